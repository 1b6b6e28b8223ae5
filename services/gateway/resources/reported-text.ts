import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestamp } from "./timestamps.ts";

/** An empty text is absent. */
export const reported = (text: string | undefined): string | null => text || null;

/** When each status was reached. */
export const statusTimestamps = (timestamps: Readonly<Record<string, Timestamp>>) =>
  Object.fromEntries(Object.entries(timestamps).map(([name, at]) => [name, timestamp(at)]));
