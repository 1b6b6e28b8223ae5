import { expect, test } from "vitest";
import { changelog, changelogFeed, changelogPage } from "./list-resource.ts";

const all = changelog({ from: undefined, to: undefined, edition: undefined });

test("every entry has a date and a unique id, newest first", () => {
  const dates = all.map(({ date }) => date);
  for (const date of dates) expect(date).toMatch(/^20\d\d-[01]\d-[0-3]\d$/);
  expect(dates).toEqual(dates.toSorted().toReversed());
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(all.filter(({ breaking }) => breaking)).toMatchObject([{ date: "2021-08-11" }]);
});

test("the history of the specification ends before the changes of Statehouse", () => {
  const by = Object.groupBy(all, ({ origin }) => origin);
  expect(by.specification).toHaveLength(87);
  expect(by.specification?.[0]?.date).toBe("2024-10-15");
  expect(by.statehouse?.at(-1)?.date).toBe("2026-11-21");
});

test("a range contains the entries within it, including entries with several dates", () => {
  const within = (from: string, to: string) => changelog({ from, to, edition: undefined });
  expect(within("2024-10-15", "2024-10-15").map(({ date }) => date)).toEqual(["2024-10-15"]);
  expect(within("2022-03-01", "2022-03-02").map(({ since }) => since)).toEqual(["2022-02-25"]);
  expect(within("2030-01-01", "2031-01-01")).toEqual([]);
});

test("an edition lists the changes of all editions and its own", () => {
  for (const edition of ["hosted", "self-hosted"] as const) {
    const listed = changelog({ from: undefined, to: undefined, edition });
    const own = all.filter(({ editions }) => !editions || editions.includes(edition));
    expect(listed).toEqual(own);
    expect(listed.some(({ editions }) => editions)).toBe(true);
    expect(listed.length).toBeLessThan(all.length);
  }
});

test("page and feed contain every entry with escaped markup", () => {
  const page = changelogPage();
  const feed = changelogFeed("https://example.com/changelog");
  expect(page.match(/<li /g)).toHaveLength(all.length);
  expect(feed.match(/<entry>/g)).toHaveLength(all.length);
  expect(feed).toContain("<id>https://example.com/changelog</id>");
});
