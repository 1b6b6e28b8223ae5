import { newId } from "@statehouse/postgres/ids";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { unusedName } from "../stack/organization.ts";
import type { RawAnswer } from "../stack/raw-http.ts";
import { useOutsider } from "./outsider.ts";

// A caller can send any path. A spelling of a path must not allow more than the caller's token does.

const { fixture, mine, foreign, asOutsider } = useOutsider();

/** Returns the status and the body of a response, without the texts that were sent. */
const plain = ({ status, body }: RawAnswer, ...sent: readonly string[]) => {
  let text = body;
  for (const value of sent) text = text.replaceAll(value, "<sent>");
  return `${status} ${text}`;
};

/** Spellings of an id that a proxy could interpret as another id. */
const spellings: Record<string, (id: string) => string> = {
  "upper case": (id) => id.toUpperCase(),
  "a first letter in upper case": (id) => id.charAt(0).toUpperCase() + id.slice(1),
  "a percent-encoded letter": (id) => `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
  "every letter percent-encoded": (id) =>
    [...id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join(""),
  "double percent-encoding": (id) => `%25${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
  "a hyphen that only looks like one": (id) => id.replace("-", encodeURIComponent("‐")),
  "full-width letters": (id) => encodeURIComponent(`ｗｓ${id.slice(2)}`),
  "a zero-width space": (id) => `${id}%E2%80%8B`,
  "an overlong slash before it": (id) => `%c0%af${id}`,
  "a trailing dot": (id) => `${id}.`,
  "a trailing slash": (id) => `${id}/`,
  "two trailing slashes": (id) => `${id}//`,
  "a trailing space": (id) => `${id}%20`,
  "a leading space": (id) => `%20${id}`,
  "a trailing plus": (id) => `${id}+`,
  "a line break": (id) => `${id}%0d%0aX-Injected:%20yes`,
  "a NUL": (id) => `${id}%00`,
  "a matrix parameter": (id) => `${id};workspace=${mine().id}`,
  "a matrix parameter of the other": (id) => `${mine().id};${id}`,
  "a format": (id) => `${id}.json`,
  "a fragment": (id) => `${id}#${mine().id}`,
  "a query in the path": (id) => `${id}%3Finclude=organization`,
  "a comma and another": (id) => `${mine().id},${id}`,
  "dots to climb": (id) => `${mine().id}/../${id}`,
  "encoded dots to climb": (id) => `${mine().id}/%2e%2e/${id}`,
  "an encoded slash to climb": (id) => `${mine().id}%2f..%2f${id}`,
  "a backslash to climb": (id) => `${mine().id}\\..\\${id}`,
  "an encoded backslash to climb": (id) => `${mine().id}%5c..%5c${id}`,
  "a single dot": (id) => `./${id}`,
  "a doubled slash": (id) => `/${id}`,
  quotes: (id) => `'${id}'`,
  "a wildcard": (id) => `${id.slice(0, 6)}*`,
  "a percent sign": (id) => `${id.slice(0, 6)}%25`,
};

describe("a path with", () => {
  test.each(Object.keys(spellings))(
    "%s gives no access that its caller does not have",
    async (how) => {
      proves("Isolation/paths");
      const { organization, outsider } = fixture();
      const spell = spellings[how] ?? String;
      const places: ((id: string, name: string) => string)[] = [
        (id) => `/api/v2/workspaces/${spell(id)}`,
        (id) => `/api/v2/workspaces/${spell(id)}/current-state-version-outputs`,
        (_, name) => `/api/v2/organizations/${organization}/workspaces/${spell(name)}`,
        (_, name) => `/api/v2/organizations/${outsider.organization}/workspaces/${spell(name)}`,
        (id) =>
          `/api/v2/organizations/${outsider.organization}/workspaces/${spell(`x/../../../workspaces/${id}`)}`,
      ];
      for (const place of places) {
        for (const method of ["GET", "DELETE", "PATCH", "HEAD"]) {
          const known = place(foreign().id, foreign().attributes.name);
          const [absentId, absentName] = [newId("ws"), unusedName("workspace")];
          const unknown = place(absentId, absentName);
          const [one, other] = [
            await asOutsider(`${method} ${known}`),
            await asOutsider(`${method} ${unknown}`),
          ];
          expect(plain(one, known, foreign().id), known).toBe(plain(other, unknown, absentId));
          expect([200, 400, 404, 405, 422], known).toContain(one.status);
          // A path that still names the caller's own objects may return these objects, but nothing of other
          // organizations.
          expect(one.body, known).not.toContain(foreign().attributes.name);
          expect(one.headers.toLowerCase()).not.toContain("x-injected");
        }
      }
      const { owner } = fixture();
      const still = await owner.api.get(`/workspaces/${foreign().id}`);
      expect(still.status).toBe(200);
      expect((await outsider.api.get(`/workspaces/${mine().id}`)).status).toBe(200);
    },
  );
});

test("a request line in another form gives no more access than the usual form", async () => {
  proves("Isolation/paths");
  const { url } = fixture();
  const path = `/api/v2/workspaces/${foreign().id}`;
  for (const line of [
    `GET ${url}${path}`,
    `GET http://localhost${path}`,
    `GET //localhost${path}`,
    `GET /api/v2/..${path}`,
    `GET /v1/object/../..${path}`,
    `GET /v1/object/%2e%2e/%2e%2e${path}`,
    `GET /changelog/..${path}`,
    `GET /healthz/..${path}`,
    `GET /API/V2/workspaces/${foreign().id}`,
    `GET /api/v2//workspaces/${foreign().id}`,
    `get ${path}`,
    `OPTIONS ${path}`,
    `PROPFIND ${path}`,
    `TRACE ${path}`,
    `QUERY ${path}`,
  ]) {
    const { status, body } = await asOutsider(line);
    expect([400, 404, 405], line).toContain(status);
    expect(body, line).not.toContain(foreign().attributes.name);
  }
});
