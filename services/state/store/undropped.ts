/** SQL: of a `workspace` that is there, and of which it is known where it belongs. */
export const undropped = "workspace.dropped_at is null and workspace.organization_id is not null";
