import { randomUUID } from "node:crypto";
import { connectNats, type Event, subscribe } from "@statehouse/events";
import { newId } from "@statehouse/postgres/ids";
import { createLogger } from "@statehouse/runtime";
import { sharedNats, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { runAccess } from "./running-access.ts";

const types = [
  "user.created",
  "token.created",
  "token.deleted",
  "team.created",
  "team-member.added",
  "team-member.removed",
  "team-project.created",
  "organization-membership.activated",
].map((name) => `statehouse.access.${name}.v1`);

test("each change publishes one event, in order, with growing revisions and without secrets", async () => {
  proves("Access events/every change of access is published");
  await using access = await runAccess();
  const received: Event[] = [];
  await using nats = connectNats({ url: sharedNats().url, name: "test" });
  await using _ = subscribe({
    nats,
    durable: `test-${randomUUID()}`,
    filter: "statehouse.access.>",
    handlers: Object.fromEntries(
      types.map((type) => [type, async (event) => void received.push(event)]),
    ),
    deadLetter: async () => {},
    logger: createLogger({ service: "test", level: "silent" }),
  });

  const [creator, member] = [await access.person(), await access.person()];
  const organizationId = newId("org");
  await access.organizations.provisionOrganization({ organizationId, creatorUserId: creator.id });
  const { team } = await access.teams.createTeam({ organizationId, settings: { name: "events" } });
  const teamId = team?.id ?? "";
  await access.teams.addTeamMember({ teamId, userId: member.id });
  access.placeProject("prj-events", organizationId);
  await access.teamAccess.createTeamAccess({
    teamId,
    targetType: "project",
    targetId: "prj-events",
    access: "read",
  });
  await access.teams.removeTeamMember({ teamId, userId: member.id });
  const { token } = await access.tokens.createUserToken({ userId: member.id });
  await access.tokens.deleteToken({ id: token?.id ?? "" }, access.as(member.secret));

  const ours = () =>
    received.filter(({ json }) =>
      [organizationId, creator.id, member.id].some((id) => json.includes(id)),
    );
  // The test files share a NATS server, so events of other files may be received before the events of this test.
  await waitFor(() => ours().some(({ type }) => type.includes("token.deleted")));
  const names = ours().map(({ type }) => type.slice("statehouse.access.".length, -".v1".length));
  expect(names).toEqual([
    "user.created",
    "token.created",
    "user.created",
    "token.created",
    "team.created",
    "organization-membership.activated",
    "team-member.added",
    "team.created",
    "organization-membership.activated",
    "team-member.added",
    "team-project.created",
    "team-member.removed",
    "token.created",
    "token.deleted",
  ]);
  const ofOrganization = ours().filter(({ json }) => json.includes(organizationId));
  const revisions = ofOrganization.slice(3).map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
  const text = JSON.stringify(ours());
  for (const secret of [creator.secret, member.secret]) expect(text).not.toContain(secret);
});
