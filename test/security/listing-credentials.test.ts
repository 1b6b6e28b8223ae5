import { nkeyCredential } from "@statehouse/events/nkey-credential";
import { newId } from "@statehouse/postgres/ids";
import { expect, test } from "vitest";
import {
  type ListedEvent,
  listAll,
  newSubscriber,
  signed,
  withCredential,
} from "../stack/listing.ts";
import { startStack } from "../stack/stack.ts";
import { newWorkspace, useStack } from "../system/fixture.ts";

const granted = newId("org");
const everything = newSubscriber("everything", "statehouse.>");
const tenant = newSubscriber("tenant", `statehouse.*.*.*.*.${granted}`);
const teams = newSubscriber("teams", "statehouse.access.team.>");
const mail = newSubscriber("mail-sender", "statehouse-mail.>");
const unknown = newSubscriber("unknown", "statehouse.>");
const declared = [everything, tenant, teams, mail];

const fixture = useStack(() =>
  startStack({
    settings: {
      EVENT_SUBSCRIBERS: declared.map(({ declaration }) => declaration).join(","),
      FAILED_AUTHENTICATION_LIMIT: "20",
    },
  }),
);
const url = () => fixture().stack.environments.gateway.PUBLIC_URL ?? "";
const target = "/events/v1/objects?limit=1";
const request = () => ({ origin: url(), target });

test("a request without a credential, with an unknown key or a wrong signature is refused", async () => {
  expect((await fetch(`${url()}${target}`)).status).toBe(401);
  expect((await signed(url(), target, unknown)).status).toBe(401);
  const good = nkeyCredential(everything.seed, request());
  const [key, time, nonce, signature = ""] = good.split(".");
  const flipped = signature.replace(/^./, (first) => (first === "A" ? "B" : "A"));
  const wrong = [
    `${key}.${time}.${nonce}.${flipped}`,
    `${key}.${Number(time) + 1}.${nonce}.${signature}`,
    `${unknown.publicKey}.${time}.${nonce}.${signature}`,
    // The public key of another subscriber, whose private key did not make this signature.
    `${tenant.publicKey}.${time}.${nonce}.${signature}`,
    `${key?.replace(/.$/, "A")}.${time}.${nonce}.${signature}`,
    "nonsense",
    fixture().owner.token,
  ];
  for (const credential of wrong) {
    const { status, text } = await withCredential(url(), target, credential);
    expect(status, credential).toBe(401);
    expect(JSON.parse(text)).toMatchObject({ errors: [{ status: "401" }] });
  }
  const bearer = { Authorization: `Bearer ${fixture().owner.token}` };
  expect((await fetch(`${url()}${target}`, { headers: bearer })).status).toBe(401);
  expect((await withCredential(url(), target, good)).status).toBe(200);
});

test("a credential is valid once, also for concurrent requests", async () => {
  const credential = nkeyCredential(everything.seed, request());
  const answers = await Promise.all([1, 2, 3].map(() => withCredential(url(), target, credential)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
  expect((await withCredential(url(), target, credential)).status).toBe(401);
});

test("a credential for another address, installation or time is refused", async () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);
  const others = [
    nkeyCredential(everything.seed, { ...request(), target: "/events/v1/objects?limit=2" }),
    nkeyCredential(everything.seed, { ...request(), target: "/events/v1/stream" }),
    nkeyCredential(everything.seed, { ...request(), origin: "https://other.example.com" }),
    nkeyCredential(everything.seed, request(), minutes(-6)),
    nkeyCredential(everything.seed, request(), minutes(6)),
  ];
  for (const credential of others) {
    expect((await withCredential(url(), target, credential)).status).toBe(401);
  }
});

test("the listing contains only what the filter of the subscriber admits", async () => {
  const { stack, owner, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  await addOrganization();
  const all = (await listAll(url(), everything)).events;
  const organizations = (events: ListedEvent[]) => new Set(events.map((one) => one.organization));
  expect(organizations(all)).toContain(granted);
  expect(organizations(all)).toContain(undefined);
  expect(all.map(({ data }) => data.workspaceId)).toContain(id);
  const own = (await listAll(url(), tenant)).events;
  expect(own).toEqual(unordered(all.filter((one) => one.organization === granted)));
  expect(new Set(own.map(({ type }) => type))).toEqual(
    new Set([
      "statehouse.access.team.created.v1",
      "statehouse.workspaces.organization.created.v1",
      "statehouse.workspaces.workspace.created.v1",
    ]),
  );
  // A filter in the request can narrow the granted filter, and never widens it.
  for (const filter of ["statehouse.>", `statehouse.*.*.*.*.${granted}`, "statehouse.*.*.*.*.*"]) {
    expect((await listAll(url(), tenant, { filter })).events).toHaveLength(own.length);
  }
  const others = all.map((one) => one.organization).filter((one) => one !== granted);
  for (const foreign of [others.find((one) => one !== undefined), "_"]) {
    const filter = `statehouse.*.*.*.*.${foreign}`;
    expect((await listAll(url(), tenant, { filter })).events).toEqual([]);
  }
  const some = (await listAll(url(), teams)).events;
  expect(new Set(some.map(({ type }) => type))).toEqual(
    new Set(["statehouse.access.team.created.v1"]),
  );
  expect((await listAll(url(), teams, { filter: "statehouse.workspaces.>" })).events).toEqual([]);
  expect((await listAll(url(), mail)).events).toEqual([]);
  expect((await listAll(url(), mail, { filter: "statehouse.>" })).events).toEqual([]);

  /** Adds an organization whose id is known before the services start, with a team and a workspace. */
  async function addOrganization(): Promise<void> {
    const copy = (table: string, changes: object, condition: string) =>
      [
        `insert into ${table} select (jsonb_populate_record(t, $1)).* from ${table} t
         where ${condition} limit 1`,
        JSON.stringify(changes),
      ] as const;
    const [inside] = await stack.rows<{ id: string }>(
      "workspaces",
      "select id from organizations where name = $1",
      [organization],
    );
    if (!inside) throw new Error("the organization of the fixture does not exist");
    const of = `organization_id = '${inside.id}'`;
    const insert = async (database: "access" | "workspaces", parts: readonly [string, string]) =>
      void (await stack.rows(database, parts[0], [parts[1]]));
    const name = { id: granted, name: "granted" };
    await insert("workspaces", copy("organizations", name, `id = '${inside.id}'`));
    await insert("access", copy("organizations", { id: granted }, `id = '${inside.id}'`));
    const workspace = { id: newId("ws"), organization_id: granted, name: "granted" };
    await insert("workspaces", copy("workspaces", workspace, `id = '${id}'`));
    const team = { id: newId("team"), organization_id: granted };
    await insert("access", copy("teams", team, of));
    expect(owner.id).toMatch(/^user-/);
  }

  function unordered(events: ListedEvent[]): unknown {
    return expect.toSatisfy(
      (listed: ListedEvent[]) =>
        JSON.stringify(listed.map(keyOf).toSorted()) ===
        JSON.stringify(events.map(keyOf).toSorted()),
    );
  }

  function keyOf({ type, subject, data }: ListedEvent): string {
    return JSON.stringify([type, subject, data]);
  }
});

test("parameters that are not valid are refused, and nothing can be written", async () => {
  for (const query of [
    "limit=0",
    "limit=1001",
    "limit=many",
    "filter=state%20house",
    "cursor=nonsense",
    `cursor=${Buffer.from("access/nothing/1").toString("base64url")}`,
    `cursor=${Buffer.from("access/users/\0").toString("base64url")}`,
  ]) {
    const { status } = await signed(url(), `/events/v1/objects?${query}`, everything);
    expect(status, query).toBe(400);
  }
  expect((await fetch(`${url()}${target}`, { method: "POST" })).status).toBe(405);
  expect((await signed(url(), "/events/v1/subjects", everything)).status).toBe(404);
});

test("invalid credentials from one address are limited, and those of a known subscriber are not", async () => {
  const statuses = new Set<number>();
  for (let i = 0; i < 30; i++) {
    statuses.add((await signed(url(), target, newSubscriber("x", "statehouse.>"))).status);
  }
  expect(statuses).toContain(429);
  expect((await signed(url(), target, everything)).status).toBe(200);
});

test("the position of the stream is shown", async () => {
  const { status, text } = await signed(url(), "/events/v1/stream", tenant);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({
    stream: "STATEHOUSE",
    created: expect.any(String),
    firstSequence: 1,
    lastSequence: expect.any(Number),
  });
});
