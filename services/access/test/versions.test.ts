import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

let count = 0;

/** Creates an organization with an owner, and a member who is in one other team. */
async function organization() {
  const organizationId = `org-versions${++count}`;
  const [owner, member] = [await access.person(), await access.person()];
  const { ownersTeamId } = await access.organizations.provisionOrganization({
    organizationId,
    creatorUserId: owner.id,
  });
  const { team } = await access.teams.createTeam({ organizationId, settings: { name: "readers" } });
  const teamId = team?.id ?? "";
  await access.teams.addTeamMember({ teamId, userId: member.id });
  return { organizationId, ownersTeamId, teamId, owner, member };
}

type Organization = Awaited<ReturnType<typeof organization>>;

interface Change {
  what: string;
  change: (of: Organization) => Promise<unknown>;
  /** The user whose version also grows; `nobody` if only the organization's version grows. */
  user: "member" | "nobody";
}

const changes: Change[] = [
  {
    what: "a new team",
    change: ({ organizationId }) =>
      access.teams.createTeam({ organizationId, settings: { name: "writers" } }),
    user: "nobody",
  },
  {
    what: "a new member",
    change: ({ ownersTeamId, member }) =>
      access.teams.addTeamMember({ teamId: ownersTeamId, userId: member.id }),
    user: "member",
  },
  {
    what: "a member less",
    change: async ({ ownersTeamId, teamId, member }) => {
      await access.teams.addTeamMember({ teamId: ownersTeamId, userId: member.id });
      await access.teams.removeTeamMember({ teamId, userId: member.id });
    },
    user: "member",
  },
  {
    what: "a grant on a project",
    change: ({ organizationId, teamId }) => {
      access.placeProject(`prj-${organizationId.slice("org-".length)}`, organizationId);
      const projectId = `prj-${organizationId.slice("org-".length)}`;
      return access.teamAccess.createTeamAccess({
        teamId,
        targetType: "project",
        targetId: projectId,
        access: "read",
      });
    },
    user: "nobody",
  },
];

const parse = (versions: string) =>
  new Map(
    versions.split(";").map((part) => {
      const at = part.lastIndexOf(":");
      return [part.slice(0, at), BigInt(part.slice(at + 1))] as const;
    }),
  );

describe("the version vector", () => {
  test.each(changes)("grows after $what", async ({ change, user }) => {
    const of = await organization();
    const before = {
      owner: parse(await access.versionsOf(of.owner.secret)),
      member: parse(await access.versionsOf(of.member.secret)),
    };
    await change(of);
    for (const who of ["owner", "member"] as const) {
      const after = parse(await access.versionsOf(of[who].secret));
      expect([...after.keys()]).toEqual(["u", of.organizationId]);
      const grew = (name: string) => (after.get(name) ?? 0n) > (before[who].get(name) ?? 0n);
      expect(grew(of.organizationId)).toBe(true);
      expect(grew("u")).toBe(who === user);
    }
  });

  test.each<{ what: string; repeat: (of: Organization) => Promise<unknown> }>([
    {
      what: "adding a member",
      repeat: ({ teamId, member }) => access.teams.addTeamMember({ teamId, userId: member.id }),
    },
    {
      what: "removing a user who is not a member",
      repeat: ({ teamId, owner }) => access.teams.removeTeamMember({ teamId, userId: owner.id }),
    },
    {
      what: "provisioning by another creator",
      repeat: ({ organizationId, member }) =>
        access.organizations.provisionOrganization({
          organizationId,
          creatorUserId: member.id,
          version: 99n,
        }),
    },
  ])("stays the same when $what is repeated", async ({ repeat }) => {
    const of = await organization();
    const before = [
      await access.versionsOf(of.owner.secret),
      await access.versionsOf(of.member.secret),
    ];
    await repeat(of);
    expect([
      await access.versionsOf(of.owner.secret),
      await access.versionsOf(of.member.secret),
    ]).toEqual(before);
  });

  test("lists each organization once, sorted, and equals the version that GetGrants returns with the grants", async () => {
    const { id, secret } = await access.person();
    for (const name of ["org-z", "org-A", "org-m"]) {
      const { ownersTeamId } = await access.organizations.provisionOrganization({
        organizationId: name,
        creatorUserId: id,
      });
      const { team } = await access.teams.createTeam({
        organizationId: name,
        settings: { name: "more" },
      });
      await access.teams.addTeamMember({ teamId: team?.id ?? "", userId: id });
      expect(ownersTeamId).not.toBe(team?.id);
    }
    const versions = await access.versionsOf(secret);
    expect([...parse(versions).keys()]).toEqual(["u", "org-A", "org-m", "org-z"]);
    const { grants } = await access.grants.getGrants({ principalType: "user", principalId: id });
    expect(grants?.versions).toBe(versions);
  });

  test("grows once for each of several concurrent changes", async () => {
    const of = await organization();
    const people = await Promise.all(Array.from({ length: 12 }, () => access.person()));
    await Promise.all(
      people.flatMap(({ id }) =>
        [of.teamId, of.ownersTeamId].map((teamId) =>
          access.teams.addTeamMember({ teamId, userId: id }),
        ),
      ),
    );
    const [row] = await access.sql<{ members: number; steps: number }>(
      `select (select count(*)::int from team_members where organization_id = $1) as members,
              (select count(distinct revision)::int from outbox
               where type like '%team-member.added%' and message::json->>'organizationId' = $1) as steps`,
      [of.organizationId],
    );
    expect(row?.members).toBe(26);
    // Events that the relay has published are no longer in the outbox, so there can be fewer rows.
    expect(row?.steps).toBeLessThanOrEqual(26);
    const { grants } = await access.grants.getGrants({
      principalType: "user",
      principalId: people[0]?.id ?? "",
    });
    expect(grants?.organizations[0]).toMatchObject({ owner: true });
  });
});
