import { editionTable, type Feature } from "@statehouse/runtime";

/** The extension of the OpenAPI document that names the editions of a member or an operation. */
export const editionsOf = (feature: Feature) => ({ "x-editions": editionTable[feature] });
