import { newId } from "@statehouse/postgres/ids";
import { expect, test } from "vitest";
import { runAccess } from "./running-access.ts";

test("a grant on a target that is deleted concurrently returns notFound and is not stored", async () => {
  await using access = await runAccess();
  const creator = await access.person();
  const organizationId = newId("org");
  await access.organizations.provisionOrganization({ organizationId, creatorUserId: creator.id });
  const { team } = await access.teams.createTeam({ organizationId, settings: { name: "late" } });
  const teamId = team?.id ?? "";
  access.placeProject("prj-leaving", organizationId);
  access.placeWorkspace("ws-leaving", { organizationId, projectId: "prj-leaving" });
  for (const id of ["prj-leaving", "ws-leaving"]) access.removeAfterCall(id);
  const grants = await Promise.allSettled([
    access.teamAccess.createTeamAccess({
      teamId,
      targetType: "project",
      targetId: "prj-leaving",
      access: "read",
    }),
    access.teamAccess.createTeamAccess({
      teamId,
      targetType: "workspace",
      targetId: "ws-leaving",
      access: "read",
    }),
  ]);
  for (const grant of grants) {
    expect(grant).toMatchObject({ status: "rejected", reason: { kind: "notFound" } });
  }
  expect(await access.sql("select id from team_accesses")).toEqual([]);
});
