import type { Caller } from "@statehouse/authorization";
import { organizationTokenWrites } from "../domain/errors.ts";

/** Refuses organization tokens; specification, "Authentication", rule 7. */
export function requireNoOrganizationToken(caller: Caller): void {
  if (caller.kind === "principal" && caller.principal.type === "organization") {
    throw organizationTokenWrites();
  }
}
