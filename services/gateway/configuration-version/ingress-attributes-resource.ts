import type { IngressAttributes } from "@statehouse/proto/statehouse/runs/v1/run_report";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText } from "../jsonapi/shape.ts";
import { reported } from "../reported-text-resource.ts";

/** The commit of a configuration version. A runner reports it together with the configuration version. */
export const ingressAttributesResource = resource<IngressAttributes, RequestContext>({
  type: "ingress-attributes",
  id: ({ id }) => id,
  attributes: {
    branch: [optionalText, ({ branch }) => reported(branch)],
    "clone-url": [optionalText, ({ cloneUrl }) => reported(cloneUrl)],
    "commit-message": [optionalText, ({ commitMessage }) => reported(commitMessage)],
    "commit-sha": [optionalText, ({ commitSha }) => reported(commitSha)],
    "commit-url": [optionalText, ({ commitUrl }) => reported(commitUrl)],
    "compare-url": [optionalText, ({ compareUrl }) => reported(compareUrl)],
    identifier: [optionalText, ({ identifier }) => reported(identifier)],
    "is-pull-request": [z.boolean(), ({ isPullRequest }) => isPullRequest],
    "on-default-branch": [z.boolean(), ({ onDefaultBranch }) => onDefaultBranch],
    "pull-request-number": [
      z.int().nullable(),
      ({ pullRequestNumber }) => pullRequestNumber ?? null,
    ],
    "pull-request-url": [optionalText, ({ pullRequestUrl }) => reported(pullRequestUrl)],
    "pull-request-title": [optionalText, ({ pullRequestTitle }) => reported(pullRequestTitle)],
    "pull-request-body": [optionalText, ({ pullRequestBody }) => reported(pullRequestBody)],
    tag: [optionalText, ({ tag }) => reported(tag)],
    "sender-username": [optionalText, ({ senderUsername }) => reported(senderUsername)],
    "sender-avatar-url": [optionalText, ({ senderAvatarUrl }) => reported(senderAvatarUrl)],
    "sender-html-url": [optionalText, ({ senderHtmlUrl }) => reported(senderHtmlUrl)],
  },
});
