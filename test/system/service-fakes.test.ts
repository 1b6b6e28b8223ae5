import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type Channel, createClient, createIdentity, type ServiceIdentity } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import * as fakes from "@statehouse/state/test/service-fakes";
import { newServiceKeys } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { organizationId } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { newUser, newWorkspace, useFixture } from "./fixture.ts";

// The tests of the state service use fakes of the access and workspaces services. This file makes the same calls to the
// fakes and to the real services and compares the responses.

/** The access and workspaces services that the state service calls: fakes or real ones, with the same objects. */
interface Side {
  access: Channel;
  workspaces: Channel;
  state: ServiceIdentity;
  ids: Record<(typeof objects)[number], string>;
  tokens: Record<"owner" | "reader" | "outsider", string>;
}
const objects = [
  "organization",
  "project",
  "owner",
  "reader",
  "outsider",
  "owners",
  "readers",
  "locked",
  "unlocked",
  "deleted",
] as const;

const fixture = useFixture();
const stack = new AsyncDisposableStack();
const sides: Partial<Record<"fake" | "real", Side>> = {};
beforeAll(async () => {
  sides.fake = await fakeSide();
  sides.real = await realSide();
});
afterAll(() => stack.disposeAsync());

async function fakeSide(): Promise<Side> {
  const keys = await newServiceKeys("state");
  const logger = createLogger({ service: "test", level: "silent" });
  const faked = stack.use(fakes.startServiceFakes({ keys: keys.publicKeys, logger }));
  const [locked, unlocked] = ["ws-locked", "ws-unlocked"];
  const deleted = "ws-deleted";
  for (const id of [locked, unlocked]) faked.place(id);
  faked.delete(deleted);
  faked.lock(locked, fakes.owner, 1n);
  faked.retain(unlocked, { days: 30 });
  return {
    ...faked.channels,
    state: keys.identities.state,
    ids: {
      organization: fakes.organizationId,
      project: fakes.projectId,
      owner: fakes.owner.id,
      reader: fakes.reader.id,
      outsider: fakes.outsider.id,
      ...fakes.teamIds,
      locked,
      unlocked,
      deleted,
    },
    tokens: { owner: fakes.owner.id, reader: fakes.reader.id, outsider: fakes.outsider.id },
  };
}

async function realSide(): Promise<Side> {
  const { stack, owner, reader, readable, readersTeamId, organization } = fixture();
  const { access, workspaces, environments } = stack;
  const outsider = await newUser(stack);
  const [locked, unlocked, deleted] = await Promise.all([
    newWorkspace(fixture(), {}, readable.id),
    newWorkspace(fixture(), {}, readable.id),
    newWorkspace(fixture(), {}, readable.id),
  ]);
  await expectStatus(204, owner.api.delete(`/workspaces/${deleted.id}`));
  await expectStatus(200, owner.api.post(`/workspaces/${locked.id}/actions/lock`));
  const policy = document("data-retention-policy-delete-olders", {
    "delete-older-than-n-days": 30,
  });
  const path = `/workspaces/${unlocked.id}/relationships/data-retention-policy`;
  await expectStatus(200, owner.api.post(path, policy));
  const teams = `/organizations/${organization}/teams?filter[names]=owners`;
  const owners = await expectStatus(200, owner.api.get(teams));
  return {
    access,
    workspaces,
    state: await createIdentity(
      "state",
      JSON.parse(environments.state.ASSERTION_PRIVATE_KEY ?? "null"),
    ),
    ids: {
      organization: await organizationId(stack, organization),
      project: readable.id,
      owner: owner.id,
      reader: reader.id,
      outsider: outsider.id,
      owners: owners.body.data[0].id,
      readers: readersTeamId,
      locked: locked.id,
      unlocked: unlocked.id,
      deleted: deleted.id,
    },
    tokens: { owner: owner.token, reader: reader.token, outsider: outsider.token },
  };
}

const grantsOf = (name: "owner" | "reader" | "outsider") => (side: Side) =>
  createClient(GrantsService, side.access, side.state).getGrants({
    principalType: "user",
    principalId: side.ids[name],
  });
const authenticate = (token: (side: Side) => string) => (side: Side) =>
  createClient(AuthenticationService, side.access, side.state).authenticate({ token: token(side) });
const authenticateId = (id: (side: Side) => string | Promise<string>) => async (side: Side) =>
  createClient(AuthenticationService, side.access, side.state).authenticateTokenId({
    tokenId: await id(side),
  });
const tokenIdOf = (name: keyof Side["tokens"]) => async (side: Side) =>
  (await authenticate(({ tokens }) => tokens[name])(side)).principal?.tokenId ?? "";
const locks = ({ workspaces, state }: Side) =>
  createClient(WorkspaceLockService, workspaces, state);
/**
 * The order of retentions in the response has no meaning, so they are sorted in the order of the requested workspaces.
 */
const retentionOf = (ids: (side: Side) => string[]) => async (side: Side) => {
  const client = createClient(DataRetentionPolicyService, side.workspaces, side.state);
  const workspaceIds = ids(side);
  const { retentions, ...rest } = await client.batchGetRetention({ workspaceIds });
  const position = ({ workspaceId }: { workspaceId: string }) => workspaceIds.indexOf(workspaceId);
  return { ...rest, retentions: retentions.toSorted((a, b) => position(a) - position(b)) };
};
const unknown = "ws-0000000000000000";

test.each<[string, (side: Side) => Promise<unknown>]>([
  ["the grants of an owner", grantsOf("owner")],
  ["the grants of a reader of a project", grantsOf("reader")],
  ["the grants of a user without an organization", grantsOf("outsider")],
  ["the principal of an owner's token", authenticate(({ tokens }) => tokens.owner)],
  ["the principal of a reader's token", authenticate(({ tokens }) => tokens.reader)],
  ["the principal of an unknown token", authenticate(() => "unknown")],
  ["the principal of an owner's token by its id", authenticateId(tokenIdOf("owner"))],
  ["the principal of an unknown token id", authenticateId(() => "at-0000000000000000")],
  [
    "the lock of a locked workspace",
    (side) => locks(side).getLock({ workspaceId: side.ids.locked }),
  ],
  [
    "the lock of an unlocked workspace",
    (side) => locks(side).getLock({ workspaceId: side.ids.unlocked }),
  ],
  ["the lock of an unknown workspace", (side) => locks(side).getLock({ workspaceId: unknown })],
  [
    "the placement of a workspace",
    (side) => locks(side).getPlacement({ workspaceId: side.ids.locked }),
  ],
  [
    "the placement of an unknown workspace",
    (side) => locks(side).getPlacement({ workspaceId: unknown }),
  ],
  [
    "the placements of workspaces, one deleted, one unknown",
    (side) =>
      locks(side).batchGetPlacements({
        workspaceIds: [side.ids.locked, side.ids.deleted, unknown],
      }),
  ],
  [
    "the retention of workspaces, one with a policy, one without, one unknown",
    retentionOf(({ ids }) => [ids.unlocked, ids.locked, unknown]),
  ],
  ["the retention of no workspace", retentionOf(() => [])],
])("the fake returns %s as the real service does", async (_, call) => {
  const [faked, real] = await Promise.all([outcome(sides.fake, call), outcome(sides.real, call)]);
  expect(faked).toEqual(real);
});

/**
 * Returns the response or the error of a call. Replaces ids with names, and replaces values that differ between
 * installations with the names of their fields.
 */
async function outcome(side: Side | undefined, call: (side: Side) => Promise<unknown>) {
  if (!side) throw new Error("the sides are not started");
  const names = new Map(Object.entries(side.ids).map(([name, id]) => [id, name]));
  const named = (value: unknown, field: string): unknown => {
    if (["versions", "version", "epoch", "since", "tokenId"].includes(field)) return `any ${field}`;
    if (Array.isArray(value)) return value.map((one) => named(one, ""));
    if (typeof value !== "object" || value === null) return names.get(String(value)) ?? value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one, key)]));
  };
  try {
    return named(await call(side), "");
  } catch (error) {
    return {
      kind: Reflect.get(Object(error), "kind"),
      reason: Reflect.get(Object(error), "reason"),
    };
  }
}
