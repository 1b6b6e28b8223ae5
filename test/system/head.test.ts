import { routes } from "@statehouse/gateway/routes";
import { beforeAll, expect, test } from "vitest";
import { processedVersion } from "../stack/state.ts";
import { useFixture } from "./fixture.ts";
import { createObjects, type ObjectIds, pathWith } from "./object-ids.ts";

const fixture = useFixture();
/** Headers that can differ between two responses to equal requests, or that belong to the connection. */
const own = ["connection", "date", "keep-alive", "x-request-id"];

let objects: ObjectIds;
beforeAll(async () => {
  objects = await createObjects(fixture());
  await processedVersion(fixture().owner.api, objects.stateVersionId ?? "");
});

const shown = routes.filter(({ method }) => method === "GET");

test.each(shown.map((route) => [route.path, route] as const))(
  "HEAD of %s has the status and headers of GET and no body",
  async (_, route) => {
    const { owner, url } = fixture();
    const address = `${url}${pathWith(route, objects)}`;
    const get = await owner.api.send("GET", address);
    const head = await owner.api.send("HEAD", address);
    expect(head.status).toBe(get.status);
    expect(head.body).toBe("");
    const headersOf = ({ headers }: typeof get) =>
      Object.fromEntries([...headers].filter(([name]) => !own.includes(name)));
    expect(headersOf(head)).toEqual(headersOf(get));
  },
);
