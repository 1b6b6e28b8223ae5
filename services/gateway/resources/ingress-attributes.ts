import type { IngressAttributes } from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { reported } from "./reported-text.ts";

/** The commit of a configuration version, which is part of the configuration version's report. */
export const ingressAttributesResource = resource<IngressAttributes, RequestContext>({
  type: "ingress-attributes",
  id: ({ id }) => id,
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
