import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6 } from "node:net";

/** The proxies whose headers a service trusts. */
export interface Proxies {
  /** Returns whether a trusted proxy sent the request. */
  sent(request: IncomingMessage): boolean;
  /**
   * Returns the address of the client: the peer of the connection or, while that address belongs to a trusted proxy,
   * the next entry of X-Forwarded-For, read from its end. An entry that is not an IP address ends the search.
   */
  clientOf(request: IncomingMessage): string;
  /**
   * Returns whether the address of the client is unknown because a proxy that is not configured sent the request. This
   * is the case if the request has X-Forwarded-For although no proxy is trusted. If some proxies are trusted, every
   * other sender is treated as a client.
   */
  hideClient(request: IncomingMessage): boolean;
}

/** A network such as `10.0.0.0/8`, or a single address. */
export interface Network {
  address: string;
  prefix: number;
}

/** Parses a network; returns undefined if the string is neither an address nor a network. */
export function networkOf(text: string): Network | undefined {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const length = prefix === undefined ? bits : Number(prefix);
  const isValid = bits > 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix ?? "0");
  return isValid && length <= bits ? { address, prefix: length } : undefined;
}

/** Creates the trusted proxies from their networks. */
export function createProxies(networks: readonly Network[]): Proxies {
  const list = new BlockList();
  for (const { address, prefix } of networks) list.addSubnet(address, prefix, family(address));
  const trusts = (address: string) =>
    networks.length > 0 && isIP(address) > 0 && list.check(address, family(address));
  return {
    sent: (request) => trusts(peerOf(request)),
    clientOf(request) {
      let client = peerOf(request);
      const hops = request.headers["x-forwarded-for"]?.toString().split(",") ?? [];
      for (const hop of hops.toReversed()) {
        const address = withoutMapping(hop.trim());
        if (!trusts(client) || isIP(address) === 0) break;
        client = address;
      }
      return client;
    },
    hideClient: ({ headers }) => networks.length === 0 && headers["x-forwarded-for"] !== undefined,
  };
}

/** The number of 16-bit groups that identify an IPv6 network. */
const IPV6_GROUPS = 4;

/**
 * Returns the key by which limits distinguish clients: an IPv4 address, or the first 64 bits of an IPv6 address,
 * because one client can use all addresses with the same 64 bits.
 */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address
    .replace(/%.*$/, "")
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  // The last two groups can be written as an IPv4 address.
  const written = head.length + tail.length + (address.includes(".") ? 1 : 0);
  const groups = [...head, ...Array.from({ length: Math.max(0, 8 - written) }, () => "0"), ...tail];
  const network = groups.slice(0, IPV6_GROUPS).map((group) => Number.parseInt(group, 16));
  return `${network.map((group) => group.toString(16)).join(":")}::/64`;
}

const family = (address: string) => (isIPv6(address) ? "ipv6" : "ipv4");

/** Removes the prefix `::ffff:` with which an IPv6 socket shows an IPv4 address. */
const withoutMapping = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, "");

const peerOf = ({ socket }: IncomingMessage) => withoutMapping(socket.remoteAddress ?? "");
