import type { Caller } from "@statehouse/authorization";
import type { Actor } from "@statehouse/runtime";

/** Returns the caller as the actor of work that the gateway did not forward. */
export function actorOf(caller: Caller, address?: string): Actor {
  if (caller.kind === "service") return { type: "service", id: caller.name };
  const { type, id, tokenId } = caller.principal;
  return { type, id, tokenId, address };
}
