import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText } from "../jsonapi/shape.ts";
import { type IdentifiedEntry, origins } from "./list-resource.ts";

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
    origin: z.enum(origins),
  },
  attributes: ({ date, since, text, editions = allEditions, breaking = false, origin }) => ({
    date,
    since: since ?? null,
    description: text,
    editions,
    breaking,
    origin,
  }),
});
