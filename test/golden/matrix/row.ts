import type { Action } from "@statehouse/authorization";
import type { Answer } from "../../stack/http.ts";
import type { PreparedCaller } from "./prepared-caller.ts";
import type { Renewable } from "./renewals.ts";

/** The callers that may call a route that requires no action of `packages/authorization`. */
export type Circle =
  /** All callers, even without a token. */
  | "anybody"
  | "every token"
  /** All callers except runs and tokens that only read the audit trail. */
  | "who stands for somebody"
  | "administrators"
  /** The user that the row is about. */
  | "the user itself"
  /** The same within an organization, unless it does not accept user tokens. */
  | "the member itself"
  /** The invited user. */
  | "the invited user"
  | "nobody"
  /** Users who share an organization with the user. */
  | "colleagues"
  /** Callers that manage teams and, depending on the team's settings, its members. */
  | "trusted members"
  /** The team's members, and callers that see secret teams. */
  | "whoever sees the secret team"
  /** Owners only, because it concerns tokens and members of the owners team. */
  | "owners";

export interface Row {
  /** The route's own declaration, for example `GET /api/v2/ping`. */
  route: string;
  /** Which case this is, if a route has several rows. */
  note: string;
  /** The required actions, all of them, or the group of permitted callers. */
  needs: readonly Action[] | Circle;
  /** Ids that replace those of the objects, by the names of the parameters. */
  ids: Readonly<Record<string, string>>;
  query?: (prepared: PreparedCaller) => string;
  /** The body of the call; replaces the example of access.test.ts. */
  body?: (prepared: PreparedCaller) => unknown;
  /** Prepares the call; returns false if the caller does not hold the required lock. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most arrangements have nothing to answer
  before?: (prepared: PreparedCaller) => Promise<boolean | void>;
  /** The objects that an allowed call consumed or created in addition. */
  spends?: Renewable;
  after?: (prepared: PreparedCaller, answer: Answer) => Promise<unknown>;
  /**
   * The status for permitted callers if it differs from the route's success, because another rule refuses the call.
   */
  allowed?: number;
  /**
   * When the call is made: `others`, concurrently with those of other callers; alone, because it changes shared data;
   * in an organization created for it, which it would delete for all others; after owners allow workspace admins to
   * force-delete; or last, because the caller is different afterwards.
   */
  pass: "together" | "alone" | "apart" | "forced" | "last";
  /** The callers that the row applies to; the cells of all others stay empty. */
  only?: (prepared: PreparedCaller) => boolean;
}

/** A row of the table; `needs` may be a single action. */
export function row(
  route: string,
  needs: Action | readonly Action[] | Circle,
  more: Partial<Omit<Row, "route" | "needs">> = {},
): Row {
  const all = typeof needs === "string" && isAction(needs) ? [needs] : needs;
  return { route, needs: all, note: "", ids: {}, pass: "together", ...more };
}

const isAction = (needs: Action | Circle): needs is Action => needs.includes(":");
