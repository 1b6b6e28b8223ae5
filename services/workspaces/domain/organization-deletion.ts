import type { Holder } from "./holder.ts";
import type { OrganizationId } from "./ids.ts";

/** A deletion that is not through everywhere. Afterwards nothing of it is left but the bare id. */
export interface PendingOrganizationDeletion {
  organizationId: OrganizationId;
}

/** Who deleted it: their grants are gone with it, and still they may repeat the request. */
export interface Deleter extends Omit<Holder, "type"> {
  type: string;
}
