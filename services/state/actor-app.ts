import type { Caller } from "@statehouse/authorization";
import type { Actor } from "@statehouse/runtime";

/** Returns the actor that audit records name for a request of this caller that did not come through the gateway. */
export function actorOf(caller: Caller, address?: string): Actor {
  if (caller.kind === "service") return { type: "service", id: caller.name };
  const { type, id, tokenId } = caller.principal;
  return { type, id, tokenId, address };
}
