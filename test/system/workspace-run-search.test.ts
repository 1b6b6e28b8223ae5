import { timestampAt } from "@statehouse/rpc/testing";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { newOrganization } from "../stack/organization.ts";
import { namesOf, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

test("workspaces can be searched by their current run's status and sorted by its creation", async () => {
  proves(
    "Workspace list/sort: current-run.created-at",
    "Workspace list/filter[current-run][status]",
  );
  const { owner, stack } = fixture();
  const organization = await newOrganization(owner.api);
  const list = `/organizations/${organization}/workspaces`;
  const { reports: runner } = await stack.runnerCalls("runner");
  const runs = { late: ["applied", 30], early: ["planning", 10], middle: ["errored", 20] } as const;
  for (const [name, [status, seconds]] of Object.entries(runs)) {
    const { id } = await newWorkspace({ organization, owner }, { name });
    await runner.run({ workspaceId: id, status, createdAt: timestampAt(seconds) });
  }
  await newWorkspace({ organization, owner }, { name: "without" });
  const names = async (query: string) => namesOf(await owner.api.get(`${list}?${query}`));
  const sort = "sort=current-run.created-at";
  const sorted = ["without", "early", "middle", "late"];
  await waitFor(async () => {
    expect(await names(sort)).toEqual(sorted);
    return true;
  });
  expect(await names(sort.replace("=", "=-"))).toEqual(sorted.toReversed());

  const status = "filter[current-run][status]";
  expect(await names(`${status}=planning`)).toEqual(["early"]);
  expect(await names(`${status}=errored,applied&${sort}`)).toEqual(["middle", "late"]);
  expect(await names(`${encodeURIComponent(status)}=errored%2Capplied&${sort}`)).toEqual([
    "middle",
    "late",
  ]);
  expect(await names(`${status}=pending`)).toEqual([]);
  expect(await names(`${status}=applied&search[name]=early`)).toEqual([]);
});
