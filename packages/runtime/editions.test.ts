import { expect, test } from "vitest";
import { edition, editionTable } from "./editions.ts";

test("a feature is asked by its name", () => {
  expect(edition("hosted").has("header.snapshot-interval")).toBe(true);
  expect(edition("self-hosted").has("header.snapshot-interval")).toBe(false);
  expect(edition("self-hosted").has("data-retention-policies")).toBe(true);
});

test("the application's name is the one the clients know", () => {
  expect(edition("self-hosted").value("app-name")).toBe("Terraform Enterprise");
  expect(edition("hosted").value("app-name")).toBe("HCP Terraform");
});

test("what every edition has is no row", () => {
  for (const editions of Object.values(editionTable)) expect(editions).toHaveLength(1);
});
