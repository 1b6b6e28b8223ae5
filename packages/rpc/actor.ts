import { isIP } from "node:net";
import type { Principal } from "@statehouse/authorization";
import type { Actor } from "@statehouse/runtime";

/**
 * Returns the actor who causes the work of a call. The actor's address is that of the API client, as the gateway
 * determined it. An address that another service sends is ignored, because only the gateway receives requests from
 * clients. A value that is not an IP address is also ignored.
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
