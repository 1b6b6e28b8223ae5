import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { clientNetwork, createProxies, networkOf } from "./proxies.ts";

function requestFrom(peer: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers["x-forwarded-for"] = forwarded;
  return request;
}

const proxies = createProxies([
  { address: "10.0.0.0", prefix: 8 },
  { address: "2001:db8::", prefix: 32 },
]);

test.each([
  ["10.0.0.0/8", { address: "10.0.0.0", prefix: 8 }],
  ["10.1.2.3", { address: "10.1.2.3", prefix: 32 }],
  ["2001:db8::/32", { address: "2001:db8::", prefix: 32 }],
  ["10.0.0.0/33", undefined],
  ["10.0.0.0/", undefined],
  ["10.0.0.0/8/8", undefined],
  ["10.0.0", undefined],
  ["proxy", undefined],
  ["", undefined],
])("the network %j is %j", (text, network) => {
  expect(networkOf(text)).toEqual(network);
});

test.each([
  ["10.0.0.1", true],
  ["::ffff:10.0.0.1", true],
  ["2001:db8::1", true],
  ["11.0.0.1", false],
  ["::1", false],
])("a request from %s comes from a trusted proxy: %s", (peer, trusted) => {
  expect(proxies.sent(requestFrom(peer))).toBe(trusted);
});

test.each([
  ["11.0.0.1", "1.2.3.4", "11.0.0.1"],
  ["10.0.0.1", undefined, "10.0.0.1"],
  ["10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"],
  ["10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"],
  ["10.0.0.1", "1.2.3.4, nonsense", "10.0.0.1"],
])("the client of a request from %s for %j is %s", (peer, forwarded, client) => {
  expect(proxies.clientOf(requestFrom(peer, forwarded))).toBe(client);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:0:7::1", "2001:db8:0:7::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
  ["2001:0db8:0000:0007:1:2:3:4", "2001:db8:0:7::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["1:2:3:4:5:6:192.0.2.1", "1:2:3:4::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
])("limits count a client with the address %s as %s", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
