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
  shape: {
    branch: optionalText,
    "clone-url": optionalText,
    "commit-message": optionalText,
    "commit-sha": optionalText,
    "commit-url": optionalText,
    "compare-url": optionalText,
    identifier: optionalText,
    "is-pull-request": z.boolean(),
    "on-default-branch": z.boolean(),
    "pull-request-number": z.int().nullable(),
    "pull-request-url": optionalText,
    "pull-request-title": optionalText,
    "pull-request-body": optionalText,
    tag: optionalText,
    "sender-username": optionalText,
    "sender-avatar-url": optionalText,
    "sender-html-url": optionalText,
  },
  attributes: (ingress) => ({
    branch: reported(ingress.branch),
    "clone-url": reported(ingress.cloneUrl),
    "commit-message": reported(ingress.commitMessage),
    "commit-sha": reported(ingress.commitSha),
    "commit-url": reported(ingress.commitUrl),
    "compare-url": reported(ingress.compareUrl),
    identifier: reported(ingress.identifier),
    "is-pull-request": ingress.isPullRequest,
    "on-default-branch": ingress.onDefaultBranch,
    "pull-request-number": ingress.pullRequestNumber ?? null,
    "pull-request-url": reported(ingress.pullRequestUrl),
    "pull-request-title": reported(ingress.pullRequestTitle),
    "pull-request-body": reported(ingress.pullRequestBody),
    tag: reported(ingress.tag),
    "sender-username": reported(ingress.senderUsername),
    "sender-avatar-url": reported(ingress.senderAvatarUrl),
    "sender-html-url": reported(ingress.senderHtmlUrl),
  }),
});
