import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { parseExactJson } from "@statehouse/runtime/exact-json";

/** Returns an output's value; null if it is withheld. Numbers keep all their digits. */
export const outputValue = ({ valueJson }: StateVersionOutput): unknown =>
  valueJson === undefined || valueJson === "" ? null : parseExactJson(valueJson);

/** Returns the output's type in Terraform's notation: a word or a nested list. */
export const outputDetailedType = ({ detailedTypeJson, type }: StateVersionOutput): unknown =>
  detailedTypeJson === "" ? type : parseExactJson(detailedTypeJson);
