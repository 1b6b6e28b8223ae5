import { document } from "../../stack/http.ts";
import { unusedName } from "../../stack/organization.ts";
import { inlineState, rollbackTo, stateFile } from "../../stack/state.ts";
import { lockedByCaller, lockedByOther, softDeleted, unlocked } from "./arrangements.ts";
import type { PreparedCaller } from "./prepared-caller.ts";
import { type Row, row } from "./row.ts";

const organization = "/api/v2/organizations/:organizationName";
const project = "/api/v2/projects/:projectId";
const workspace = "/api/v2/workspaces/:workspaceId";
const byName = `${organization}/workspaces/:name`;
const inProject = (id: string | undefined) => ({ project: { data: { type: "projects", id } } });

export const projectRows: readonly Row[] = [
  row(`GET ${organization}/projects`, "project:list"),
  row(`POST ${organization}/projects`, "project:create"),
  row(`GET ${project}`, "project:read"),
  row(`PATCH ${project}`, "project:update"),
  row(`DELETE ${project}`, "project:delete", {
    note: "an empty one",
    ids: { projectId: "emptyProjectId" },
  }),
  row(`GET ${project}/tag-bindings`, "project:read"),
  row(`PATCH ${project}/tag-bindings`, "project:update"),
  row(`GET ${project}/effective-tag-bindings`, "project:read"),
  row(`GET ${project}/relationships/tag-bindings`, "project:read"),
  row(`POST ${project}/relationships/tag-bindings`, "project:update"),
  row(`PATCH ${project}/relationships/tag-bindings`, "project:update"),
];

const spare = { workspaceId: "spareId", name: "spareName" };
const moved = ({ objects }: PreparedCaller) =>
  document("workspaces", {}, inProject(objects.otherProjectId));
const consumers = `${workspace}/relationships/remote-state-consumers`;
const tags = `${workspace}/relationships/tags`;
const retention = `${workspace}/relationships/data-retention-policy`;

export const workspaceRows: readonly Row[] = [
  row(`GET ${organization}/workspaces`, "organization:read"),
  row(`POST ${organization}/workspaces`, "project:create-workspace", {
    body: ({ objects }) =>
      document("workspaces", { name: unusedName("made") }, inProject(objects.projectId)),
  }),
  row(`GET ${workspace}`, "workspace:read"),
  row(`GET ${byName}`, "workspace:read"),
  row(`PATCH ${workspace}`, "workspace:update", { note: "a setting" }),
  row(`PATCH ${workspace}`, ["workspace:read", "project:move-workspace"], {
    note: "to another project",
    ids: spare,
    body: moved,
    spends: "spare",
  }),
  row(`PATCH ${byName}`, "workspace:update", { note: "a setting" }),
  row(`PATCH ${byName}`, ["workspace:read", "project:move-workspace"], {
    note: "to another project",
    ids: spare,
    body: moved,
    spends: "spare",
  }),
  row(`PATCH ${workspace}/relationships/ssh-key`, "workspace:update"),
  row(`GET ${tags}`, "workspace:read"),
  row(`POST ${tags}`, "workspace:update"),
  row(`DELETE ${tags}`, "workspace:update"),
  row(`GET ${workspace}/tag-bindings`, "workspace:read"),
  row(`PATCH ${workspace}/tag-bindings`, "workspace:update"),
  row(`GET ${workspace}/effective-tag-bindings`, "workspace:read"),
  row(`GET ${workspace}/relationships/tag-bindings`, "workspace:read"),
  row(`POST ${workspace}/relationships/tag-bindings`, "workspace:update"),
  row(`PATCH ${workspace}/relationships/tag-bindings`, "workspace:update"),
  row(`POST ${project}/relationships/workspaces`, ["workspace:read", "project:move-workspace"], {
    ids: { projectId: "otherProjectId" },
    body: ({ objects }) => ({ data: [{ type: "workspaces", id: objects.spareId }] }),
    spends: "spare",
  }),
  row(`GET ${workspace}/effective-permissions`, "workspace:manage-teams", {
    query: ({ objects }) => `filter[team]=${objects.teamId}`,
  }),
  row(`GET ${consumers}`, "workspace:read"),
  row(`PATCH ${consumers}`, ["workspace:update", "organization:manage-workspaces"]),
  row(`POST ${consumers}`, "workspace:update"),
  row(`DELETE ${consumers}`, "workspace:update"),
  row(`GET ${retention}`, "workspace:read"),
  row(`POST ${retention}`, "workspace:update"),
  row(`PATCH ${retention}`, "workspace:update"),
  row(`DELETE ${retention}`, "workspace:update", { spends: "workspacePolicy" }),
  row(`POST ${workspace}/actions/safe-delete`, "workspace:delete", { ids: spare, spends: "spare" }),
  row(`POST ${byName}/actions/safe-delete`, "workspace:delete", { ids: spare, spends: "spare" }),
  row(`DELETE ${workspace}`, "workspace:force-delete", { ids: spare, spends: "spare" }),
  row(`DELETE ${byName}`, "workspace:force-delete", { ids: spare, spends: "spare" }),
  row(`DELETE ${workspace}`, "workspace:update", {
    note: "where workspace admins may",
    pass: "forced",
    ids: spare,
    spends: "spare",
  }),
  row(`DELETE ${byName}`, "workspace:update", {
    note: "where workspace admins may",
    pass: "forced",
    ids: spare,
    spends: "spare",
  }),
];

export const lockRows: readonly Row[] = [
  row(`POST ${workspace}/actions/lock`, "workspace:lock", { before: unlocked }),
  row(`POST ${workspace}/actions/unlock`, "workspace:lock", {
    note: "own",
    before: lockedByCaller,
  }),
  row(`POST ${workspace}/actions/unlock`, "workspace:lock", {
    note: "another's",
    before: lockedByOther,
    allowed: 409,
  }),
  row(`POST ${workspace}/actions/force-unlock`, "workspace:force-unlock", {
    note: "another's",
    before: lockedByOther,
  }),
];

const next = () => inlineState(stateFile(), { force: true });

export const stateRows: readonly Row[] = [
  row("GET /api/v2/state-versions", "state:read", {
    query: ({ objects }) =>
      `filter[organization][name]=${objects.organizationName}&filter[workspace][name]=${objects.name}`,
  }),
  row("GET /api/v2/state-versions/:stateVersionId", "state:read"),
  row("GET /api/v2/state-versions/:stateVersionId/changes", "state:read", {
    query: ({ objects }) => `filter[since]=${objects.stateVersionId}`,
  }),
  row(`GET ${workspace}/current-state-version`, "state:read"),
  row("GET /api/v2/state-versions/:stateVersionId/outputs", "state:read-outputs"),
  row("GET /api/v2/state-version-outputs/:stateVersionOutputId", "state:read-outputs"),
  row(`GET ${workspace}/current-state-version-outputs`, "state:read-outputs"),
  row(`POST ${workspace}/state-versions`, "state:write", {
    note: "under no lock",
    body: next,
    before: unlocked,
    allowed: 412,
  }),
  row(`POST ${workspace}/state-versions`, "state:write", {
    note: "under another's lock",
    body: next,
    before: lockedByOther,
    allowed: 409,
  }),
  row(`POST ${workspace}/state-versions`, "state:write", {
    note: "under the own lock, if it can be taken",
    body: next,
    before: lockedByCaller,
  }),
  row(`PATCH ${workspace}/state-versions`, ["state:read", "state:write"], {
    note: "under the own lock, if it can be taken",
    body: ({ objects }) => rollbackTo(objects.oldStateVersionId ?? ""),
    before: lockedByCaller,
  }),
  row(`GET ${workspace}/resources`, "state:read"),
];

const actions = "/api/v2/state-versions/:stateVersionId/actions";
const old = { stateVersionId: "oldStateVersionId" };

/** The order of the rows matters: a version is soft-deleted, restored, and finally deleted permanently. */
export const backingDataRows: readonly Row[] = [
  row(`POST ${actions}/soft_delete_backing_data`, "state:manage-backing-data", { ids: old }),
  row(`POST ${actions}/restore_backing_data`, "state:manage-backing-data", {
    ids: old,
    before: softDeleted,
  }),
  row(`POST ${actions}/permanently_delete_backing_data`, "state:manage-backing-data", {
    ids: old,
    before: softDeleted,
  }),
];

/** The state service's own routes for bytes. Their callers may read the state or have an upload URL. */
export const objectRows: readonly Row[] = [
  row("GET /v1/object/:token", "state:read"),
  row("PUT /v1/object/:token", "anyCaller", {
    note: "the same bytes again",
    // The organization refuses the token of the owner who created the version, so it refuses the upload as well.
    hidden: ({ caller }) => caller.name === "owner, user tokens refused",
  }),
];
