import { editionTable, type Feature } from "@statehouse/runtime";

/** Returns the member of the OpenAPI document that names the editions which have a member or an operation. */
export const editionsOf = (feature: Feature) => ({ "x-editions": editionTable[feature] });
