import { z } from "zod";
import type { IdentifiedEntry } from "../changelog/changelog.ts";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText } from "../jsonapi/shape.ts";

const allEditions = ["self-hosted", "hosted"] as const;

export const changelogEntryResource = resource<IdentifiedEntry, RequestContext>({
  type: "changelog-entries",
  id: ({ id }) => id,
  shape: {
    date: z.iso.date(),
    since: optionalText,
    description: z.string(),
    editions: z.array(z.enum(allEditions)),
    breaking: z.boolean(),
  },
  attributes: ({ date, since, text, editions = allEditions, breaking = false }) => ({
    date,
    since: since ?? null,
    description: text,
    editions,
    breaking,
  }),
});
