import type { IdentifiedEntry } from "../changelog/changelog.ts";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

const allEditions = ["self-hosted", "hosted"] as const;

export const changelogEntryResource = resource<IdentifiedEntry, RequestContext>({
  type: "changelog-entries",
  id: ({ id }) => id,
  attributes: ({ date, since, text, editions = allEditions, breaking = false }) => ({
    date,
    since: since ?? null,
    description: text,
    editions,
    breaking,
  }),
});
