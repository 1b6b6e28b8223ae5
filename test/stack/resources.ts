import type { Answer } from "./http.ts";

/** What names a resource in a document. */
export interface Identifier {
  type: string;
  id: string;
}

/** A resource of a document, as far as it refers to others. */
export interface Resource extends Identifier {
  relationships?: Record<string, { data?: Identifier | Identifier[] | null }>;
}

export const nameOf = ({ type, id }: Identifier): string => `${type} ${id}`;

/** What a resource links to, by name. */
export const linkedFrom = ({ relationships = {} }: Resource): string[] =>
  Object.values(relationships)
    .flatMap(({ data }) => data ?? [])
    .map(nameOf);

/** The included resources of an answer. */
export const includedIn = ({ body }: Answer): Resource[] => body.included ?? [];
