import { document } from "../stack/http.ts";
import { organizationId, unusedName } from "../stack/organization.ts";
import type { Stack } from "../stack/stack.ts";
import { newUser, populate } from "../system/fixture.ts";
import { createObjects } from "../system/object-ids.ts";

/** Ids and names of objects of each kind, keyed by the name of the parameter in paths. */
export type Pools = Readonly<Record<string, readonly string[]>>;

export const callerNames = ["owner", "member", "anonymous"] as const;
export type CallerName = (typeof callerNames)[number];

export interface CallsFixture {
  readonly pools: Pools;
  /** The token of each caller; undefined for the caller without a token. */
  readonly tokens: Readonly<Record<CallerName, string | undefined>>;
}

/**
 * Creates `count` objects of each kind in each of three organizations, so that calls still find objects after other
 * calls have deleted some. The caller `owner` owns the organizations and is an administrator of the installation. The
 * caller `member` is in one team of each organization; the team may write to the workspaces of the created projects.
 */
export async function createCallsFixture(stack: Stack, count: number): Promise<CallsFixture> {
  const { reader: member } = await populate(stack);
  const owner = await newUser(stack, { administrator: true });
  const pools: Record<string, Set<string>> = {};
  // Creates several organizations, so that a call still finds one after other calls have deleted or renamed some
  // organizations.
  for (const organization of [unusedName("org"), unusedName("org"), unusedName("org")]) {
    await owner.api.post(
      "/organizations",
      document("organizations", { name: organization, email: "ops@example.com" }),
    );
    const writers = await stack.people.newTeam({
      organizationId: await organizationId(stack, organization),
      name: unusedName("team"),
      members: [member],
    });
    for (let made = 0; made < count; made++) {
      const objects = await createObjects({ organization, owner });
      const { projectId = "" } = objects;
      await stack.people.grant({ teamId: writers.id, projectId, access: "write" });
      for (const [name, value] of Object.entries(objects)) {
        pools[name] = (pools[name] ?? new Set()).add(value);
      }
    }
  }
  return {
    pools: Object.fromEntries(Object.entries(pools).map(([name, values]) => [name, [...values]])),
    tokens: { owner: owner.token, member: member.token, anonymous: undefined },
  };
}
