import { expect, test } from "vitest";
import { createStatePaths, safeFileName } from "./file-name-domain.ts";

test.each([
  ["prod-eu_1", "prod-eu_1"],
  ["a/b", "a%2Fb"],
  ["..", "%2E%2E"],
  ["a\0b\n", "a%00b%0A"],
  ["ä", "%C3%A4"],
  ["\ud800", "%EF%BF%BD"],
  ["C:\\x", "C%3A%5Cx"],
  ["NUL", "%4EUL"],
  ["com1", "%63om1"],
  ["", "%"],
])("the name %j is the file name %s", (name, file) => {
  expect(safeFileName(name)).toBe(file);
});

test("names that differ only by case, or are shortened, have different files", () => {
  const path = createStatePaths();
  expect(path({ folder: "acme", name: "Prod", id: "ws-1" })).toBe("acme/Prod.tfstate");
  expect(path({ folder: "acme", name: "prod", id: "ws-2" })).toBe("acme/prod~ws-2.tfstate");
  expect(path({ folder: "ACME", name: "prod", id: "ws-3" })).toBe("ACME/prod~ws-3.tfstate");
  const [one, other] = ["x".repeat(200), `${"x".repeat(200)}y`].map((name, index) =>
    path({ folder: "acme", name, id: `ws-${index}` }),
  );
  expect(one).not.toBe(other);
});
