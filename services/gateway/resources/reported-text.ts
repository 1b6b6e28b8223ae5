import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestamp } from "./timestamps.ts";

/** A text that a runner left out is none. */
export const reported = (text: string | undefined): string | null => text || null;

/** When each status was reached. */
export const statusTimestamps = (timestamps: Readonly<Record<string, Timestamp>>) =>
  Object.fromEntries(Object.entries(timestamps).map(([name, at]) => [name, timestamp(at)]));
