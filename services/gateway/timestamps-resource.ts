import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Formats a time as UTC with milliseconds and `Z`, which every client can read; null if there is none. */
export const timestamp = (at: Timestamp | undefined): string | null =>
  at ? timestampDate(at).toISOString() : null;
