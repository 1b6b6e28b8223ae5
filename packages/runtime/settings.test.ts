import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigError, readConfig } from "./config.ts";
import { keyRingSetting, natsSettings, settings } from "./settings.ts";

const problem = (field: z.ZodType, value: string): string | undefined => {
  try {
    readConfig(z.object({ SETTING: field }), { SETTING: value });
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
};
const key = (bytes: number) => randomBytes(bytes).toString("base64");
const part = randomBytes(32).toString("base64url");
const jwk = { kty: "OKP", crv: "Ed25519", x: part, kid: "k" };

test.each([
  ["a key of the right length", `k1:${key(32)}`, undefined],
  ["several", ` k1:${key(32)} , k2:${key(32)}`, undefined],
  ["a short one", `k1:${key(32)},old:${key(16)}`, "the key old has 16 bytes and must have 32"],
  ["a long one", `k1:${key(33)}`, "the key k1 has 33 bytes and must have 32"],
  ["two of one id", `k1:${key(32)},k1:${key(32)}`, "the id k1 appears twice"],
  ["no keys", "secret", "must be id:base64, several separated by commas"],
])("key list: %s", (_, ring, text) => {
  const found = problem(keyRingSetting({ bytes: 32 }), ring);
  expect(found).toBe(text && `SETTING: ${text}`);
});

test.each([
  ["a user's seed", `SU${"A".repeat(56)}\n`, undefined],
  ["another text", "garbage", "must be the seed of a user's nkey, which begins with SU"],
  [
    "the seed of an account",
    `SA${"A".repeat(56)}`,
    "must be the seed of a user's nkey, which begins with SU",
  ],
])("nkey: %s", (_, seed, text) => {
  expect(problem(natsSettings.NATS_NKEY_SEED, seed)).toBe(text && `SETTING: ${text}`);
});

test("a key list with a minimum length accepts longer keys", () => {
  const field = keyRingSetting({ atLeast: 32 });
  expect(problem(field, `k1:${key(64)}`)).toBeUndefined();
  expect(problem(field, `k1:${key(8)}`)).toBe(
    "SETTING: the key k1 has 8 bytes and must have at least 32",
  );
});

test.each([
  ["keys of services", { gateway: [jwk], state: [] }, undefined],
  ["a list", [], "must be an object from names to lists of JWKs"],
  ["keys that are not a list", { gateway: jwk }, "gateway: must be a list of JWKs"],
  ["a text for a key", { gateway: ["x"] }, "gateway.0: must be a JWK"],
  ["another curve", { gateway: [{ ...jwk, crv: "X25519" }] }, "gateway.0.crv: must be Ed25519"],
  ["no public key", { gateway: [{ ...jwk, x: undefined }] }, "gateway.0.x: is missing"],
  ["no key id", { gateway: [jwk, { ...jwk, kid: "" }] }, "gateway.1.kid: is empty"],
  [
    "half a public key",
    { gateway: [{ ...jwk, x: "AAAA" }] },
    "gateway.0.x: must be part of an Ed25519 key: 32 bytes in base64url",
  ],
  [
    "an RSA key",
    { gateway: [{ ...jwk, kty: "RSA" }] },
    "gateway.0.kty: must be OKP: only Ed25519 keys are accepted",
  ],
])("public keys: %s", (_, keys, text) => {
  const found = problem(settings.ASSERTION_PUBLIC_KEYS, JSON.stringify(keys));
  expect(found).toBe(text && `SETTING: ${text}`);
});

test("a private key requires its private part; text that is not JSON is reported", () => {
  const field = settings.ASSERTION_PRIVATE_KEY;
  expect(problem(field, JSON.stringify({ ...jwk, d: part }))).toBeUndefined();
  expect(problem(field, JSON.stringify(jwk))).toBe("SETTING: d: is missing");
  expect(problem(field, "{")).toBe("SETTING: is not JSON");
});
