import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { createClient, generateAssertionKey } from "@statehouse/rpc";
import { importJWK, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { createLockServer } from "../stack/lock-server.ts";

describe("an assertion lives five minutes, whatever it claims:", () => {
  test.each([
    { name: "made now for a minute", age: 0, lifetime: 60, accepted: true },
    { name: "made now for ten years", age: 0, lifetime: 315_360_000, accepted: true },
    { name: "made ten minutes ago for ten years", age: 600, lifetime: 315_360_000 },
    { name: "made in an hour", age: -3600, lifetime: 7200 },
    { name: "without the time it was made", age: undefined, lifetime: 60 },
    { name: "expired", age: 120, lifetime: 60 },
  ])("$name", async ({ age, lifetime, accepted = false }) => {
    const { privateJwk, publicJwk } = await generateAssertionKey();
    await using server = createLockServer(publicJwk);
    const made = Math.floor(Date.now() / 1000) - (age ?? 0);
    const unsigned = new SignJWT({ typ: "service", ver: "" })
      .setProtectedHeader({ alg: "EdDSA", kid: privateJwk.kid ?? "" })
      .setIssuer("state")
      .setSubject("state")
      .setAudience("workspaces")
      .setExpirationTime(made + lifetime);
    if (age !== undefined) unsigned.setIssuedAt(made);
    const assertion = await unsigned.sign(await importJWK(privateJwk, "EdDSA"));
    const call = createClient(WorkspaceLockService, server.inProcess(), {
      assertion: async () => assertion,
    }).getPlacement({ workspaceId: "ws-1" });
    if (accepted) await expect(call).resolves.toBeDefined();
    else await expect(call).rejects.toMatchObject({ kind: "unauthenticated" });
  });
});
