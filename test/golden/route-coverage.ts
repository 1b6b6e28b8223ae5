import { readFileSync } from "node:fs";
import path from "node:path";
import { routes } from "@statehouse/gateway/routes";
import type { Answer } from "../stack/http.ts";
import { undescribed } from "./openapi-conformance.ts";

/** Statuses that every route may return without declaring them. */
const everywhere: ReadonlySet<number> = new Set([401, 405]);
/**
 * Statuses that every route with a request body may return without declaring them: the body is invalid JSON or too
 * large.
 */
const withBody: ReadonlySet<number> = new Set([400, 413]);

const matchers = routes
  .map((route) => ({
    route,
    name: `${route.method} ${route.path}`,
    pattern: new RegExp(`^${route.path.replaceAll(".", "\\.").replaceAll(/:[^/]+/g, "[^/]+")}/?$`),
    parameters: route.path.split("/:").length,
  }))
  .toSorted((a, b) => a.parameters - b.parameters);

/**
 * The calls of the running test file, for example `GET /api/v2/ping 204`. A process runs its files one after another.
 */
const seen = new Set<string>();
const undeclared = new Set<string>();
let mayBeUnavailable = false;

/** Deletes the recorded calls of the previous file. */
export function beginFile(): void {
  seen.clear();
  undeclared.clear();
  mayBeUnavailable = false;
}

/** For test files that stop services: from now on every route may return 503 without declaring it. */
export function unavailableServicesAreExpected(): void {
  mayBeUnavailable = true;
}

/** Records a call's route and status, and how the response differs from the OpenAPI document. */
export function recordCall(
  method: string,
  url: string,
  { status, headers, body }: Pick<Answer, "status" | "headers" | "body">,
): void {
  const { pathname } = new URL(url);
  const found = matchers.find(
    ({ route, pattern }) => route.method === method && pattern.test(pathname),
  );
  if (!found) return;
  const { route, name } = found;
  const line = `${name} ${status}`;
  seen.add(line);
  const declared =
    status === route.success ||
    (status === 304 && route.method === "GET") ||
    route.failures.some((failure) => failure === status) ||
    everywhere.has(status) ||
    (mayBeUnavailable && status === 503) ||
    (route.body !== undefined && withBody.has(status));
  if (!declared) undeclared.add(`${line}: the route does not declare this status`);
  for (const problem of undescribed(route, { status, headers, body })) {
    undeclared.add(`${line}: ${problem}`);
  }
}

/** Returns every route with each status that it declares, for example `GET /api/v2/ping 204`. */
export const declaredStatuses = (): string[] =>
  routes.flatMap(({ method, path, success, failures }) =>
    [success, ...failures].map((status) => `${method} ${path} ${status}`),
  );

/** Reads the golden file that assigns every declared status to the system test that receives it. */
export function readGolden(): Map<string, string> {
  const text = readFileSync(path.join(import.meta.dirname, "routes.golden.txt"), "utf8");
  const reachedBy = new Map<string, string>();
  let route = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, status, file] = /^ {2}(\d{3}) (\S+)$/.exec(line) ?? [];
    if (status && file) reachedBy.set(`${route} ${status}`, file);
    else route = line;
  }
  return reachedBy;
}

/**
 * Throws if the test file has not received every status that the golden file assigns to it, or has received an
 * undeclared status or a response that differs from the OpenAPI document.
 */
export function checkReach(file: string): void {
  const promised = [...readGolden()].filter(([, by]) => by === file).map(([line]) => line);
  const problems = [
    ...promised
      .filter((line) => !seen.has(line))
      .map((line) => `not received, although routes.golden.txt assigns it to this file: ${line}`),
    ...[...undeclared].map((line) => `received, but not as declared: ${line}`),
  ];
  if (problems.length > 0) throw new Error(`${file}\n  ${problems.join("\n  ")}`);
}
