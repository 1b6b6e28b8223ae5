import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { readRows } from "../golden/specification.ts";
import { useFixture } from "./fixture.ts";

const fixture = useFixture();
const list = (query = "") => fixture().anonymous.get(`/changelog${query}`);

test("changes are listed newest first, in pages, without authentication", async () => {
  proves("Changelog/newest first, by range of dates and edition, in pages");
  const first = await list("?page[size]=5");
  expect(first.status).toBe(200);
  const dates = first.body.data.map((one: { attributes: { date: string } }) => one.attributes.date);
  expect(dates).toHaveLength(5);
  expect(dates).toEqual(dates.toSorted().toReversed());
  const total = first.body.meta.pagination["total-count"];
  const last = await list(`?page[size]=5&page[number]=${Math.ceil(total / 5)}`);
  expect(last.body.data.at(-1).attributes).toMatchObject({
    date: "2021-03-08",
    origin: "specification",
  });
  expect(first.body.data[0].attributes.origin).toBe("statehouse");
  expect((await list("?page[number]=1000")).body.data).toEqual([]);
});

test("changes can be filtered by date and edition", async () => {
  proves(
    "Editions/changes of one edition are marked, and found by it",
    "Changelog/newest first, by range of dates and edition, in pages",
  );
  const day = await list("?filter[from]=2024-08-01&filter[to]=2024-08-01");
  expect(day.body.data).toMatchObject([
    { type: "changelog-entries", attributes: { editions: ["self-hosted"], breaking: false } },
  ]);
  const hosted = "?filter[from]=2024-08-01&filter[to]=2024-08-01&filter[edition]=hosted";
  expect((await list(hosted)).body.data).toEqual([]);
  for (const wrong of [
    "filter[from]=yesterday",
    "filter[to]=2024-13-01",
    "filter[edition]=other",
  ]) {
    expect((await list(`?${wrong}`)).status).toBe(400);
  }
});

test("the changelog has an HTML page and an Atom feed", async () => {
  proves("Changelog/a page for people, an Atom feed");
  const { anonymous, url } = fixture();
  const page = await anonymous.get(`${url}/changelog`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(page.body).toContain("/changelog.atom");
  expect(page.body.match(/<h2>.*<\/h2>/g)).toEqual([
    "<h2>Changes of Statehouse</h2>",
    "<h2>History of the specification</h2>",
  ]);
  const feed = await anonymous.get(`${url}/changelog.atom`);
  expect(feed.status).toBe(200);
  expect(feed.headers.get("content-type")).toContain("application/atom+xml");
  expect(feed.body).toContain(`<id>${url}/changelog</id>`);
  expect(feed.body).toContain('<category term="specification"');
});

test("each change of the specification is in the list, the page and the feed", async () => {
  proves("Versioning/*");
  const { anonymous, url } = fixture();
  const published: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { body } = await list(`?filter[to]=2024-10-15&page[size]=100&page[number]=${page}`);
    for (const { attributes } of body.data) {
      const { date, since, description: text, editions, breaking } = attributes;
      const marks = [...(editions.length === 1 ? editions : []), ...(breaking ? ["breaking"] : [])];
      const when = since ? `${since} to ${date}` : date;
      published.push(`${when}${marks.map((mark) => ` (${mark})`).join("")}: ${text}`);
    }
    page = body.meta.pagination["next-page"];
  }
  const expected = readRows("access.golden.txt")
    .filter(({ table }) => table === "Versioning")
    .map(({ text }) => text);
  expect(expected.length).toBeGreaterThan(80);
  expect(published).toEqual(expected);
  const escaped = (text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  for (const place of ["/changelog", "/changelog.atom"]) {
    const { body } = await anonymous.get(url + place);
    for (const line of expected) {
      expect(body, place).toContain(escaped(line.replace(/^[^:]*: /, "")));
    }
  }
});
