import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSealer } from "./sealing.ts";

const first = `k1:${randomBytes(32).toString("base64")}`;
const second = `k2:${randomBytes(32).toString("base64")}`;
const place = { table: "state_version_outputs", column: "value", rowId: "wsout-1" };

test("a sealed value can be decrypted, and two sealed values of one text differ", () => {
  const sealer = createSealer({ keys: first });
  const sealed = sealer.seal("sesame – ✓", place);
  expect(sealed).toMatch(/^k1:/);
  expect(sealed).not.toBe(sealer.seal("sesame – ✓", place));
  expect(sealer.unseal(sealed, place)).toBe("sesame – ✓");
  expect(sealer.unseal(sealer.seal("", place), place)).toBe("");
});

test.each([{ table: "ssh_keys" }, { column: "other" }, { rowId: "wsout-2" }])(
  "a value moved to another place (%o) cannot be decrypted",
  (elsewhere) => {
    const sealer = createSealer({ keys: first });
    const sealed = sealer.seal("sesame", place);
    expect(() => sealer.unseal(sealed, { ...place, ...elsewhere })).toThrow();
  },
);

test("an altered value cannot be decrypted", () => {
  const sealer = createSealer({ keys: first });
  const bytes = Buffer.from(sealer.seal("sesame", place).slice(3), "base64");
  for (let index = 0; index < bytes.length; index++) {
    const altered = Buffer.from(bytes);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(() => sealer.unseal(`k1:${altered.toString("base64")}`, place)).toThrow();
  }
  expect(() => sealer.unseal("k1:", place)).toThrow();
});

test("a new first key encrypts while the old key still decrypts, until the old key is removed", () => {
  const sealed = createSealer({ keys: first }).seal("sesame", place);
  const rotated = createSealer({ keys: `${second},${first}` });
  expect(rotated.unseal(sealed, place)).toBe("sesame");
  expect(rotated.isStale(sealed)).toBe(true);
  expect(rotated.isStale(rotated.seal("sesame", place))).toBe(false);
  expect(() => createSealer({ keys: second }).unseal(sealed, place)).toThrow(/no key with id "k1"/);
});

test.each(["", "k1", "k1:short", `${first},${first}`])(
  "invalid keys %# are refused without being quoted",
  (keys) => {
    expect(() => createSealer({ keys })).toThrow(/^sealing keys: /);
  },
);
