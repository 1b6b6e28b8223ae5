import { expect, test } from "vitest";
import { searchRevocations } from "./revocations.ts";

const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 30));

test("no request under a lease sees what was before an answered change", async () => {
  const { histories } = await searchRevocations({ seed, forMs: 3000 });
  expect(histories).toBeGreaterThan(0);
});

test("a path, which only shrunk histories have, is refused", async () => {
  await expect(searchRevocations({ seed, path: "0:1", forMs: 0 })).rejects.toThrow("have no path");
});
