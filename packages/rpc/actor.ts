import { isIP } from "node:net";
import type { Principal } from "@statehouse/authorization";
import type { Actor } from "@statehouse/runtime";
import type { CallOrigin } from "./channel.ts";

/**
 * Returns who causes the work of a call. Token and address are those that the gateway received; metadata of other
 * services is ignored, because only the gateway sees the request. Other values than an id and an address are ignored too.
 */
export function actorOf({ type, id }: Principal, origin: CallOrigin | undefined): Actor {
  const fromGateway = type !== "service" || id === "gateway";
  if (!fromGateway) return { type, id };
  const { tokenId = "", address = "" } = origin ?? {};
  return {
    ...{ type, id },
    tokenId: /^at-\w+$/.test(tokenId) ? tokenId : undefined,
    address: isIP(address) > 0 ? address : undefined,
  };
}
