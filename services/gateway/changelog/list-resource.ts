import { createHash } from "node:crypto";
import {
  type ChangelogEntry,
  specificationEntries,
  statehouseEntries,
} from "./entries-resource.ts";

/** Whose change an entry describes: that of Statehouse, or of the specification before Statehouse implemented it. */
export const origins = ["statehouse", "specification"] as const;
type Origin = (typeof origins)[number];

/** An entry with an id, which stays the same while its date and text do not change. */
export type IdentifiedEntry = ChangelogEntry & { id: string; origin: Origin };

export interface ChangelogFilter {
  /** The first day to include, as YYYY-MM-DD. */
  from: string | undefined;
  /** The last day to include, as YYYY-MM-DD. */
  to: string | undefined;
  /** If set, only entries that concern this edition are included. */
  edition: string | undefined;
}

const idOf = ({ date, text }: ChangelogEntry): string =>
  `${date}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;

const identified = (origin: Origin, all: readonly ChangelogEntry[]): IdentifiedEntry[] =>
  all.map((entry) => ({ ...entry, id: idOf(entry), origin }));

const entries: readonly IdentifiedEntry[] = [
  ...identified("statehouse", statehouseEntries),
  ...identified("specification", specificationEntries),
];

/** Returns the entries that match the filter, newest first. */
export const changelog = ({ from, to, edition }: ChangelogFilter): IdentifiedEntry[] =>
  entries.filter(
    ({ date, since = date, editions }) =>
      (from === undefined || date >= from) &&
      (to === undefined || since <= to) &&
      (edition === undefined || !editions || editions.some((one) => one === edition)),
  );

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const marks = ({ editions, breaking }: ChangelogEntry): string =>
  [...(editions ?? []), ...(breaking ? ["breaking"] : [])].map((mark) => ` (${mark})`).join("");

const titles: Readonly<Record<Origin, string>> = {
  statehouse: "Changes of Statehouse",
  specification: "History of the specification",
};

/** Renders the entries of one origin as a section of the HTML page. */
function section(origin: Origin): string {
  const days = Map.groupBy(
    entries.filter((entry) => entry.origin === origin),
    (entry) => (entry.since ? `${entry.since} to ${entry.date}` : entry.date),
  );
  const lists = [...days].map(([day, all]) => {
    const items = all.map(
      (entry) => `<li id="${entry.id}">${escaped(entry.text)}${marks(entry)}</li>`,
    );
    return `<h3>${day}</h3>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  return `<h2>${titles[origin]}</h2>\n${lists.join("\n")}`;
}

/** Renders the changelog as an HTML page. */
export function changelogPage(): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Changes of the interface</title>
<link rel="alternate" type="application/atom+xml" href="/changelog.atom">
<h1>Changes of the interface</h1>
${origins.map(section).join("\n")}
</html>
`;
}

/** Renders the changelog as an Atom feed. `address` is the address of the HTML page. */
export function changelogFeed(address: string): string {
  const all = changelog({ from: undefined, to: undefined, edition: undefined });
  const timestampOf = (date: string) => `${date}T00:00:00Z`;
  const items = all.map(
    (entry) => `  <entry>
    <id>${escaped(`${address}#${entry.id}`)}</id>
    <title>${escaped(entry.text + marks(entry))}</title>
    <updated>${timestampOf(entry.date)}</updated>
    <category term="${entry.origin}" label="${titles[entry.origin]}"/>
    <link href="${escaped(`${address}#${entry.id}`)}"/>
    <content>${escaped(entry.text)}</content>
  </entry>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escaped(address)}</id>
  <title>Changes of the interface</title>
  <author><name>Statehouse</name></author>
  <updated>${timestampOf(all[0]?.date ?? "1970-01-01")}</updated>
  <link rel="self" href="${escaped(`${address}.atom`)}"/>
${items.join("\n")}
</feed>
`;
}
