import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createUploadTokens, type UploadClaims } from "./upload-token-domain.ts";

const key = (id: string, bytes = 32) => `${id}:${randomBytes(bytes).toString("base64")}`;
const now = new Date("2026-01-01T00:00:00Z");
const claims: UploadClaims = {
  workspaceId: "ws-a",
  versionId: "sv-a",
  kind: "raw",
  expiresAt: new Date(now.getTime() + 1000),
};

test("a token carries its claims until it expires", () => {
  const tokens = createUploadTokens(key("k1"));
  const token = tokens.sign(claims);
  expect(tokens.verify(token, now)).toEqual(claims);
  expect(tokens.verify(token, claims.expiresAt)).toBeUndefined();
  expect(tokens.sign(claims)).toBe(token);
});

test("an altered or foreign token is invalid", () => {
  const tokens = createUploadTokens(key("k1"));
  const token = tokens.sign(claims);
  const [id, payload, signature] = token.split(".");
  const other = createUploadTokens(key("k1")).sign(claims);
  const json = tokens.sign({ ...claims, kind: "json" });
  const altered = [
    `${id}.${json.split(".")[1]}.${signature}`,
    `${id}.${payload}.${other.split(".")[2]}`,
    `k2.${payload}.${signature}`,
    `${token}.x`,
    `${token}=`,
    `${id}.${payload}.`,
    "",
    "sv-a",
  ];
  for (const text of [other, ...altered]) expect(tokens.verify(text, now)).toBeUndefined();
});

test("during key rotation the first key signs and all keys verify", () => {
  const [old, fresh] = [key("old"), key("new")];
  const token = createUploadTokens(old).sign(claims);
  const rotated = createUploadTokens(`${fresh},${old}`);
  expect(rotated.verify(token, now)).toEqual(claims);
  expect(rotated.sign(claims)).toMatch(/^new\./);
});
