import { document } from "../../stack/http.ts";
import { type Row, row } from "./row.ts";

const organization = "/api/v2/organizations/:organizationName";
const general = "/api/v2/admin/general-settings";
const administered = "/api/v2/admin/organizations";
const users = "/api/v2/admin/users";
const subject = { userId: "subjectId" };
const retention = "relationships/data-retention-policy";

const keepAll = () => document("data-retention-policy-dont-deletes", {});

/** Routes for objects outside organizations. */
export const installationRows: readonly Row[] = [
  row("GET /.well-known/terraform.json", "anyCaller"),
  row("GET /api/v2/ping", "anyCaller"),
  row("GET /api/v2/changelog", "anyCaller"),
  row("GET /changelog", "anyCaller"),
  row("GET /changelog.atom", "anyCaller"),
  row("GET /openapi/stable.json", "anyCaller"),
  row("GET /app/settings/tokens", "anyCaller"),
  row("GET /avatars/:id", "anyCaller", { ids: { id: "userId" } }),
  row("GET /docs", "anyCaller"),
  row("GET /docs/init.js", "anyCaller"),
  row("GET /docs/swagger-ui.css", "anyCaller"),
  row("GET /docs/swagger-ui-bundle.js", "anyCaller"),
  row(`GET ${general}`, "administrators"),
  row(`PATCH ${general}`, "administrators", { body: () => document("general-settings", {}) }),
  row(`POST ${general}/${retention}`, "administrators", { body: keepAll }),
  row(`PATCH ${general}/${retention}`, "administrators", { body: keepAll }),
  row(`GET ${general}/${retention}`, "administrators", { pass: "alone" }),
  row(`DELETE ${general}/${retention}`, "administrators", { pass: "alone", spends: "sitePolicy" }),
  row(`GET ${administered}`, "administrators"),
  row(`GET ${administered}/:organizationName`, "administrators"),
  row(`PATCH ${administered}/:organizationName`, "administrators", {
    body: () => document("organizations", { "plan-identifier": "premium" }),
  }),
  row(`DELETE ${administered}/:organizationName`, "administrators", { pass: "apart" }),
  row("GET /api/v2/admin/workspaces", "administrators"),
  row(`GET ${users}`, "administrators"),
  row(`POST ${users}`, "administrators"),
  row(`DELETE ${users}/:userId`, "administrators", { ids: subject, spends: "subject" }),
  row(`POST ${users}/:userId/actions/suspend`, "administrators", { ids: subject }),
  row(`POST ${users}/:userId/actions/unsuspend`, "administrators", { ids: subject }),
  row(`POST ${users}/:userId/actions/grant_admin`, "administrators", { ids: subject }),
  row(`POST ${users}/:userId/actions/revoke_admin`, "administrators", { ids: subject }),
];

/** Routes for the organization and its direct children. */
export const organizationRows: readonly Row[] = [
  row("POST /api/v2/organizations", "every token"),
  row("GET /api/v2/organizations", "every token"),
  row(`GET ${organization}`, "organization:read"),
  row(`PATCH ${organization}`, "organization:update"),
  row(`PUT ${organization}`, "organization:update"),
  row(`DELETE ${organization}`, "organization:delete", { pass: "apart" }),
  row(`GET ${organization}/entitlement-set`, "organization:read"),
  row(`GET ${organization}/${retention}`, "organization:read"),
  row(`POST ${organization}/${retention}`, "organization:update"),
  row(`PATCH ${organization}/${retention}`, "organization:update"),
  row(`DELETE ${organization}/${retention}`, "organization:update", {
    pass: "alone",
    spends: "organizationPolicy",
  }),
  row(`GET ${organization}/agent-pools`, "organization:read"),
  row(`POST ${organization}/agent-pools`, "organization:manage-agent-pools"),
  row("GET /api/v2/agent-pools/:agentPoolId", "organization:read"),
  row("PATCH /api/v2/agent-pools/:agentPoolId", "organization:manage-agent-pools"),
  row("DELETE /api/v2/agent-pools/:agentPoolId", "organization:manage-agent-pools", {
    spends: "agentPool",
  }),
  row(`GET ${organization}/ssh-keys`, "organization:read"),
  row(`POST ${organization}/ssh-keys`, "organization:manage-ssh-keys"),
  row("GET /api/v2/ssh-keys/:sshKeyId", "organization:read"),
  row("PATCH /api/v2/ssh-keys/:sshKeyId", "organization:manage-ssh-keys"),
  row("DELETE /api/v2/ssh-keys/:sshKeyId", "organization:manage-ssh-keys", { spends: "sshKey" }),
  row(`GET ${organization}/token-ttl-policies`, "organization:update"),
  row(`PATCH ${organization}/token-ttl-policies`, "organization:update"),
  row("GET /api/v2/organization/audit-trail", "organization:read-audit-trail", {
    query: ({ caller, fixture }) =>
      caller.type === "user" ? `filter[organization][name]=${fixture.organization}` : "",
  }),
  row(`GET ${organization}/tags`, "organization:read"),
  row(`DELETE ${organization}/tags`, "organization:manage-workspaces", {
    body: ({ objects }) => ({ data: [{ type: "tags", id: objects.tagId }] }),
    spends: "tag",
  }),
  row("POST /api/v2/tags/:tagId/relationships/workspaces", "workspace:update", {
    body: ({ objects }) => ({ data: [{ type: "workspaces", id: objects.workspaceId }] }),
  }),
  row(`GET ${organization}/reserved-tag-keys`, "organization:read"),
  row(`POST ${organization}/reserved-tag-keys`, "organization:update"),
  row("PATCH /api/v2/reserved-tag-keys/:reservedTagKeyId", "organization:update"),
  row("DELETE /api/v2/reserved-tag-keys/:reservedTagKeyId", "organization:update", {
    spends: "reservedTagKey",
  }),
];
