import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { waitFor } from "@statehouse/testing";
import { expectStatus, inlineState, stateFile } from "../../stack/state.ts";
import { newWorkspaceIn } from "../../stack/workspace.ts";
import type { MeasuredStart } from "./measured-start.ts";

/** One or many hostile requests. */
export interface Probe {
  name: string;
  /** Runs before the measurement; returns the function that is measured. */
  prepare(start: MeasuredStart): Promise<() => Promise<void>>;
}

const MIB = 1024 * 1024;
const UNKNOWN = "/workspaces/ws-AAAAAAAAAAAAAAAA";
const TAGS = `${UNKNOWN}/relationships/tags`;

/** Sends a request and reads the response completely, whatever its status. */
async function send(
  { url, token }: Pick<MeasuredStart, "url" | "token">,
  method: string,
  path: string,
  body?: string | Buffer,
): Promise<void> {
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
    ...(body !== undefined && { body: typeof body === "string" ? body : new Uint8Array(body) }),
  }).catch(() => undefined);
  // If the server refuses the body, it can close the connection before the response is read.
  await response?.arrayBuffer().catch(() => {});
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A probe that sends one body. */
const body = (name: string, path: string, make: () => string | Buffer): Probe => ({
  name,
  prepare: async (start) => {
    const sent = make();
    return () => send(start, "POST", path, sent);
  },
});

const zeros = (count: number, more = "") => `{"data":[${"0,".repeat(count)}0${more}]}`;
const nested = (depth: number) => `{"data":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const wide = (count: number) =>
  JSON.stringify({
    data: {
      type: "workspaces",
      attributes: Object.fromEntries(times(count, (index) => [`a${index}`, index])),
    },
  });

/** A probe that sends a body in chunks of one byte; each chunk takes six bytes on the wire. */
const tinyChunks = (bytes: number): Probe => ({
  name: `a body of ${bytes / MIB} MiB in chunks of one byte`,
  prepare: async ({ url, token }) => {
    const { hostname, port } = new URL(url);
    const chunks = Buffer.from("1\r\n \r\n".repeat(1024));
    return async () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.resume();
      const head = [
        `POST /api/v2${UNKNOWN}/state-versions HTTP/1.1`,
        ...["Host: a", `Authorization: Bearer ${token}`, "Transfer-Encoding: chunked"],
        "Connection: close",
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      for (let sent = 0; sent < bytes && !socket.destroyed; sent += 1024) {
        if (!socket.write(chunks))
          await Promise.race([once(socket, "drain"), once(socket, "close")]);
      }
      if (socket.destroyed) return;
      socket.write("0\r\n\r\n");
      await once(socket, "close");
    };
  },
});

/** A probe that opens many connections, each of which sends ten bytes of a body, one every 100 ms. */
const slowBodies = (count: number): Probe => ({
  name: `${count} connections that send bodies byte by byte`,
  prepare:
    async ({ url, token, organization }) =>
    async () => {
      const { hostname, port } = new URL(url);
      const head = [
        `POST /api/v2/organizations/${organization}/workspaces HTTP/1.1`,
        ...["Host: a", `Authorization: Bearer ${token}`, "Content-Length: 100000"],
      ];
      const sockets = times(count, () => connect(Number(port), hostname).on("error", () => {}));
      for (const socket of sockets) socket.write(`${head.join("\r\n")}\r\n\r\n`);
      for (let sent = 0; sent < 10; sent++) {
        for (const socket of sockets) socket.write("x");
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      for (const socket of sockets) socket.destroy();
    },
});

/**
 * Creates state versions with many resources in one workspace; returns the path of the list of these versions and the
 * path of the last version.
 */
async function manyResources({ owner, organization }: MeasuredStart, resources: number) {
  const { id, attributes } = await newWorkspaceIn(owner, organization, {
    name: `resources-${randomUUID().slice(0, 8)}`,
  });
  await expectStatus(200, owner.post(`/workspaces/${id}/actions/lock`, { reason: "probe" }));
  const lineage = randomUUID();
  let version = "";
  for (let serial = 1; serial <= VERSIONS; serial++) {
    const state = stateFile({ serial, lineage, resources });
    const made = await expectStatus(
      201,
      owner.post(`/workspaces/${id}/state-versions`, inlineState(state)),
    );
    version = made.body.data.id;
    const path = `/state-versions/${version}`;
    await waitFor(
      async () => (await owner.get(path)).body.data.attributes["resources-processed"] === true,
      { timeout: 300_000, interval: 500, what: "the resources" },
    );
  }
  const filter = `filter[workspace][name]=${attributes.name}&filter[organization][name]=${organization}`;
  return { list: `/state-versions?${filter}&page[size]=20`, show: `/state-versions/${version}` };
}

const RESOURCES = 20_000;
const VERSIONS = 4;
let resources: ReturnType<typeof manyResources> | undefined;
let of: MeasuredStart | undefined;
const sharedResources = (start: MeasuredStart) => {
  if (of !== start) resources = undefined;
  of = start;
  resources ??= manyResources(start, RESOURCES);
  return resources;
};

export const probes: readonly Probe[] = [
  body("a list of 200,000 wrong items (0.4 MiB)", TAGS, () => zeros(200_000)),
  body("a list of 500,000 wrong items (1.0 MiB)", TAGS, () => zeros(500_000)),
  body("a list of 500,000 items, one with a NUL (1.0 MiB)", TAGS, () =>
    zeros(500_000, ',"\\u0000"'),
  ),
  body("400,000 nested lists (0.8 MiB)", TAGS, () => nested(400_000)),
  body("an object of 60,000 members (0.9 MiB)", "/organizations/bench/workspaces", () =>
    wide(60_000),
  ),
  body("a list of 2,000,000 items for a state version (3.8 MiB)", `${UNKNOWN}/state-versions`, () =>
    zeros(2_000_000),
  ),
  body("a list of 4,000,000 items for a state version (7.6 MiB)", `${UNKNOWN}/state-versions`, () =>
    zeros(4_000_000),
  ),
  {
    name: "8 bodies of 40 MiB of blanks at once",
    prepare: async (start) => {
      const blanks = Buffer.alloc(40 * MIB, " ");
      return async () => {
        const path = `${UNKNOWN}/state-versions`;
        await Promise.all(times(8, () => send(start, "POST", path, blanks)));
      };
    },
  },
  tinyChunks(MIB / 2),
  slowBodies(500),
  {
    name: "a wildcard name of 15,000 stars",
    prepare: async (start) => {
      const name = `x${"*".repeat(15_000)}y`;
      const path = `/organizations/bench/workspaces?search[wildcard-name]=${name}`;
      return () => send(start, "GET", path);
    },
  },
  {
    name: "1,500 invalid tokens at once",
    prepare:
      async ({ url }) =>
      async () => {
        const path = "/organizations";
        await Promise.all(
          times(1500, (index) => send({ url, token: `wrong-${index}` }, "GET", path)),
        );
      },
  },
  {
    name: "200 lists of workspaces at once",
    prepare: async (start) => async () => {
      const path = "/organizations/bench/workspaces?page[size]=100";
      await Promise.all(times(200, () => send(start, "GET", path)));
    },
  },
  {
    name: "a state of 20 MiB in a request",
    prepare: async (start) => {
      const { owner, organization } = start;
      const { id } = await newWorkspaceIn(owner, organization, {
        name: `large-${randomUUID().slice(0, 8)}`,
      });
      await expectStatus(200, owner.post(`/workspaces/${id}/actions/lock`, { reason: "probe" }));
      const state = stateFile({ marker: "x".repeat(20 * MIB) });
      const sent = JSON.stringify(inlineState(state));
      return () => send(start, "POST", `/workspaces/${id}/state-versions`, sent);
    },
  },
  {
    name: "a version of 20,000 resources",
    prepare: async (start) => {
      const { show } = await sharedResources(start);
      return () => send(start, "GET", show);
    },
  },
  {
    name: "a list of 4 versions of 20,000 resources",
    prepare: async (start) => {
      const { list } = await sharedResources(start);
      return () => send(start, "GET", list);
    },
  },
];
