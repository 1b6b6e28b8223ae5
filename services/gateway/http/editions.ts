import { editionTable, type Feature } from "@statehouse/runtime";

/** Returns the `x-editions` field for an OpenAPI operation or schema property: the editions that offer it. */
export const editionsOf = (feature: Feature) => ({ "x-editions": editionTable[feature] });
