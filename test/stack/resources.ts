import type { Answer } from "./http.ts";

/** The identifier of a resource in a document. */
export interface Identifier {
  type: string;
  id: string;
}

/** A resource in a document, with its relationships to other resources. */
export interface Resource extends Identifier {
  relationships?: Record<string, { data?: Identifier | Identifier[] | null }>;
}

export const nameOf = ({ type, id }: Identifier): string => `${type} ${id}`;

/** Returns the names (type and id) of the linked resources. */
export const linkedFrom = ({ relationships = {} }: Resource): string[] =>
  Object.values(relationships)
    .flatMap(({ data }) => data ?? [])
    .map(nameOf);

/** The included resources of a response. */
export const includedIn = ({ body }: Answer): Resource[] => body.included ?? [];
