import type { Aim } from "../aim.ts";
import { type Bench, contender } from "../bench.ts";
import type { BenchFixture } from "../fixture.ts";
import { printRates } from "./rates.ts";

/**
 * (c) Measures lists of 20 of 10,000 workspaces: the first page, a page in the middle, and the first page of a search.
 */
export async function workspaceList({ one, four, contest }: Bench): Promise<Aim[]> {
  const pages = {
    "first page": "page[size]=20",
    "page 250": "page[size]=20&page[number]=250",
    "search[name]=77": "page[size]=20&search[name]=77",
  };
  const listed = (fixture: BenchFixture, [page, query]: [string, string]) => ({
    ...contender(fixture, () => [
      {
        method: "GET" as const,
        path: `/api/v2/organizations/${fixture.organization}/workspaces?${encodeURI(query)}`,
        expect: 200,
      },
    ]),
    name: `${fixture.name}, ${page}`,
  });
  const measured = await contest(
    [one, four].flatMap((fixture) => Object.entries(pages).map((page) => listed(fixture, page))),
  );
  printRates("(c) list 20 of 10,000 workspaces", measured);
  return [];
}
