import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { JsonText } from "../jsonapi/json-text.ts";

/** Returns an output's value; null if it is withheld. Numbers keep all their digits. */
export const outputValue = ({ valueJson }: StateVersionOutput): JsonText | null =>
  valueJson === undefined || valueJson === "" ? null : new JsonText(valueJson);

/** Returns the output's type in Terraform's notation: a word or a nested list. */
export const outputDetailedType = ({
  detailedTypeJson,
  type,
}: StateVersionOutput): JsonText | string =>
  detailedTypeJson === "" ? type : new JsonText(detailedTypeJson);
