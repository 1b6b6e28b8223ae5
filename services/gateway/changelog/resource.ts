import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText } from "../jsonapi/shape.ts";
import { type IdentifiedEntry, origins } from "./list-resource.ts";

const allEditions = ["self-hosted", "hosted"] as const;

export const changelogEntryResource = resource<IdentifiedEntry, RequestContext>({
  type: "changelog-entries",
  id: ({ id }) => id,
  attributes: {
    date: [z.iso.date(), ({ date }) => date],
    since: [optionalText, ({ since }) => since ?? null],
    description: [z.string(), ({ text }) => text],
    editions: [z.array(z.enum(allEditions)), ({ editions = allEditions }) => editions],
    breaking: [z.boolean(), ({ breaking = false }) => breaking],
    origin: [z.enum(origins), ({ origin }) => origin],
  },
});
