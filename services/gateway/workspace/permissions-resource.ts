import { permissionsFrom } from "../permissions-resource.ts";

export const workspacePermissionTable = {
  "can-update": "workspace:update",
  "can-destroy": "workspace:delete",
  "can-queue-destroy": "workspace:apply",
  "can-queue-run": "workspace:plan",
  "can-queue-apply": "workspace:apply",
  "can-read-run": "workspace:read",
  "can-read-variable": "workspace:read-variables",
  "can-update-variable": "workspace:write-variables",
  "can-read-state-versions": "state:read",
  "can-read-state-outputs": "state:read-outputs",
  "can-create-state-versions": "state:write",
  "can-lock": "workspace:lock",
  "can-unlock": "workspace:lock",
  "can-force-unlock": "workspace:force-unlock",
  "can-read-settings": "workspace:read",
  "can-manage-tags": "workspace:update",
  "can-manage-run-tasks": "workspace:manage-run-tasks",
  // If this key is missing, the CLI assumes that the server does not support safe deletion.
  "can-force-delete": "workspace:force-delete",
  "can-manage-assessments": null,
  "can-manage-ephemeral-workspaces": "workspace:update",
  "can-read-assessment-results": null,
} as const;

/** Returns the `can-…` permissions that a workspace's document shows, for the allowed actions. */
export const workspacePermissions = permissionsFrom(workspacePermissionTable);
