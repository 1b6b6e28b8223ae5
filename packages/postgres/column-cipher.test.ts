import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createColumnCipher } from "./column-cipher.ts";

const first = `k1:${randomBytes(32).toString("base64")}`;
const second = `k2:${randomBytes(32).toString("base64")}`;
const location = { table: "state_version_outputs", column: "value", rowId: "wsout-1" };

test("a sealed value can be decrypted, and two sealed values of one text differ", () => {
  const cipher = createColumnCipher({ keys: first });
  const encrypted = cipher.encryptColumn("sesame – ✓", location);
  expect(encrypted).toMatch(/^k1:/);
  expect(encrypted).not.toBe(cipher.encryptColumn("sesame – ✓", location));
  expect(cipher.decryptColumn(encrypted, location)).toBe("sesame – ✓");
  expect(cipher.decryptColumn(cipher.encryptColumn("", location), location)).toBe("");
});

test.each([{ table: "ssh_keys" }, { column: "other" }, { rowId: "wsout-2" }])(
  "a value moved to another place (%o) cannot be decrypted",
  (elsewhere) => {
    const cipher = createColumnCipher({ keys: first });
    const encrypted = cipher.encryptColumn("sesame", location);
    expect(() => cipher.decryptColumn(encrypted, { ...location, ...elsewhere })).toThrow();
  },
);

test("an altered value cannot be decrypted", () => {
  const cipher = createColumnCipher({ keys: first });
  const bytes = Buffer.from(cipher.encryptColumn("sesame", location).slice(3), "base64");
  for (let index = 0; index < bytes.length; index++) {
    const altered = Buffer.from(bytes);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(() => cipher.decryptColumn(`k1:${altered.toString("base64")}`, location)).toThrow();
  }
  expect(() => cipher.decryptColumn("k1:", location)).toThrow();
});

test("a new first key encrypts while the old key still decrypts, until the old key is removed", () => {
  const encrypted = createColumnCipher({ keys: first }).encryptColumn("sesame", location);
  const rotated = createColumnCipher({ keys: `${second},${first}` });
  expect(rotated.decryptColumn(encrypted, location)).toBe("sesame");
  expect(rotated.isStale(encrypted)).toBe(true);
  expect(rotated.isStale(rotated.encryptColumn("sesame", location))).toBe(false);
  expect(() => createColumnCipher({ keys: second }).decryptColumn(encrypted, location)).toThrow(
    /no key with id "k1"/,
  );
});

test.each(["", "k1", "k1:short", `${first},${first}`])(
  "invalid keys %# are refused without being quoted",
  (keys) => {
    expect(() => createColumnCipher({ keys })).toThrow(/^sealing keys: /);
  },
);
