import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { parseExact } from "./exact-json.ts";

/** An output's value; null if it is withheld. Numbers keep all their digits. */
export const outputValue = ({ valueJson }: StateVersionOutput): unknown =>
  valueJson === undefined || valueJson === "" ? null : parseExact(valueJson);

/** Its type in the engine's notation: a word, or a nested list. */
export const outputDetailedType = ({ detailedTypeJson, type }: StateVersionOutput): unknown =>
  detailedTypeJson === "" ? type : parseExact(detailedTypeJson);
