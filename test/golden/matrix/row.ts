import type { Action } from "@statehouse/authorization";
import type { Answer } from "../../stack/http.ts";
import type { PreparedCaller } from "./prepared-caller.ts";
import type { Renewable } from "./renewals.ts";

/** The permitted callers of a route that requires no action of `packages/authorization`. */
export type Circle =
  /** Also without a token. */
  | "anybody"
  | "every token"
  /** All but runs, and tokens that only read the audit trail. */
  | "who stands for somebody"
  | "administrators"
  /** The user of the row. */
  | "the user itself"
  /** The same within an organization, unless it takes no user tokens. */
  | "the member itself"
  /** The invited user. */
  | "the invited user"
  | "nobody"
  /** Users who share an organization with the user. */
  | "colleagues"
  /** Callers that manage teams; also users in the team, according to its settings. */
  | "trusted members"
  /** The team's members, and callers that see secret teams. */
  | "whoever sees the secret team"
  /** Only owners create tokens and members of the team of owners. */
  | "owners";

export interface Row {
  /** For example `GET /api/v2/ping`; the route's own declaration. */
  route: string;
  /** The case of a route with several rows. */
  note: string;
  /** The required actions, all of them; or the group of permitted callers. */
  needs: readonly Action[] | Circle;
  /** Other ids than those of the objects, by the names of the parameters. */
  ids: Readonly<Record<string, string>>;
  query?: (prepared: PreparedCaller) => string;
  /** Replaces the example of access.test.ts. */
  body?: (prepared: PreparedCaller) => unknown;
  /** Prepares the call; returns false if the caller does not hold the required lock. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most arrangements have nothing to answer
  before?: (prepared: PreparedCaller) => Promise<boolean | void>;
  /** What an allowed call consumed or created in addition. */
  spends?: Renewable;
  after?: (prepared: PreparedCaller, answer: Answer) => Promise<unknown>;
  /** The status for permitted callers if it is not the route's success: another rule refuses the call. */
  allowed?: number;
  /**
   * Which other calls run concurrently: those of other callers; none, because it changes shared data; in an
   * organization created for it, which it would delete for all others; after owners allow workspace admins to
   * force-delete; last, because the caller is different afterwards.
   */
  pass: "together" | "alone" | "apart" | "forced" | "last";
  /** The callers; the cells of all others stay empty. */
  only?: (prepared: PreparedCaller) => boolean;
}

/** A row; `needs` may be a single action. */
export function row(
  route: string,
  needs: Action | readonly Action[] | Circle,
  more: Partial<Omit<Row, "route" | "needs">> = {},
): Row {
  const all = typeof needs === "string" && isAction(needs) ? [needs] : needs;
  return { route, needs: all, note: "", ids: {}, pass: "together", ...more };
}

const isAction = (needs: Action | Circle): needs is Action => needs.includes(":");
