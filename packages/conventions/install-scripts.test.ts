import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8"));

interface Locked {
  name?: string;
  hasInstallScript?: true;
}

const locked: [string, Locked][] = Object.entries(read("package-lock.json").packages);
const nameOf = (place: string) => place.split("node_modules/").at(-1) ?? "";

test("package.json denies the install script of every package that has one", () => {
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
  const denied = Object.fromEntries(withScripts.map(([place]) => [nameOf(place), false]));
  expect(read("package.json").allowScripts).toEqual(denied);
});

test("no installed package reports its use", () => {
  const names = locked.map(([place, { name = nameOf(place) }]) => name);
  expect(
    names.filter((name) => /scarf|posthog|sentry|analytics|(?<!open)telemetry/.test(name)),
  ).toEqual([]);
});
