import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { optionalTime } from "./jsonapi/shape.ts";
import { timestamp } from "./timestamps-resource.ts";

/** Returns a reported string; null if it is empty or absent. */
export const reported = (text: string | undefined): string | null => text || null;

/** The schema of the result of `statusTimestamps`. */
export const statusTimes = z.record(z.string(), optionalTime);

/** Returns the time at which each status was reached. */
export const statusTimestamps = (timestamps: Readonly<Record<string, Timestamp>>) =>
  Object.fromEntries(Object.entries(timestamps).map(([name, at]) => [name, timestamp(at)]));
