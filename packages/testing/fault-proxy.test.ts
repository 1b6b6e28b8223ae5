import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startFaultProxy } from "./fault-proxy.ts";
import { newServiceCertificates } from "./service-certificates.ts";

test("a client that never begins its TLS handshake does not delay the end of the proxy", async () => {
  await using certificates = await newServiceCertificates("gateway", "state");
  const tls = {
    serverName: "state",
    server: certificates.filesOf("state"),
    client: certificates.filesOf("gateway"),
  };
  const proxy = await startFaultProxy(1, tls);
  const silent = connect(proxy.port, "127.0.0.1");
  await once(silent, "connect");
  await expect(proxy[Symbol.asyncDispose]()).resolves.toBeUndefined();
});
