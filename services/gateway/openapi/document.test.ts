import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { discoveryRoutes, WIRE_VERSION } from "../discovery/routes.ts";
import { openApiDocument } from "./document.ts";

test("the version is the product's, and the description names the wire version", () => {
  const manifest = path.resolve(import.meta.dirname, "../../../package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8"));
  const { info } = openApiDocument(discoveryRoutes);
  expect(info.version).toBe(version);
  expect(info.description).toContain(`TFP-API-Version: ${WIRE_VERSION}`);
});
