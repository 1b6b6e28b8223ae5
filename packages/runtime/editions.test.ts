import { expect, test } from "vitest";
import { edition, editionTable } from "./editions.ts";

test("a feature is read by its name", () => {
  expect(edition("hosted").has("header.snapshot-interval")).toBe(true);
  expect(edition("self-hosted").has("header.snapshot-interval")).toBe(false);
  expect(edition("self-hosted").has("data-retention-policies")).toBe(true);
});

test("the application name is the one that clients expect", () => {
  expect(edition("self-hosted").value("app-name")).toBe("Terraform Enterprise");
  expect(edition("hosted").value("app-name")).toBe("HCP Terraform");
});

test("features that all editions have are not in the table", () => {
  for (const editions of Object.values(editionTable)) expect(editions).toHaveLength(1);
});
