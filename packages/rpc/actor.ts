import { isIP } from "node:net";
import type { Principal } from "@statehouse/authorization";
import type { Actor } from "@statehouse/runtime";

/**
 * Returns who causes the work of a call. Its address is the one from which the gateway received the request; that of
 * other services is ignored, because only the gateway sees the request. Anything but an address is ignored too.
 */
export function actorOf(
  { type, id, tokenId }: Principal,
  clientAddress: string | undefined,
): Actor {
  if (type === "service" && id !== "gateway") return { type, id };
  const address =
    clientAddress !== undefined && isIP(clientAddress) > 0 ? clientAddress : undefined;
  return { type, id, tokenId, address };
}
