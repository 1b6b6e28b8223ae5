import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** UTC with milliseconds and `Z`, the form that every client reads; null if there is none. */
export const timestamp = (at: Timestamp | undefined): string | null =>
  at ? timestampDate(at).toISOString() : null;
