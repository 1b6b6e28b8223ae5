import type { Action } from "@statehouse/authorization";
import type { PreparedCaller } from "./prepared-caller.ts";
import type { Renewable } from "./renewals.ts";

/** A group of permitted callers, for a route that requires no action of `packages/authorization`. */
export type Circle =
  /** All callers, even without a token. */
  | "anyCaller"
  | "every token"
  /** All authenticated callers except runs and audit trails tokens. */
  | "who stands for somebody"
  | "administrators"
  /** The user to which the row's object belongs. */
  | "the user itself"
  /** The user to which the row's object belongs, if the organization accepts user tokens. */
  | "the member itself"
  | "the invited user"
  | "noCaller"
  /** Callers that belong to an organization of the row's user, and whose token the organization accepts. */
  | "colleagues"
  /** Callers that manage teams; if the team lets its members manage its tokens, also its members. */
  | "trusted members"
  /** The team's members, and callers that may read secret teams. */
  | "whoever sees the secret team"
  /** Only owners, because the row concerns tokens and members of the owners team. */
  | "owners";

export interface Row {
  /** The route as it is declared, for example `GET /api/v2/ping`. */
  route: string;
  /** Names the case if a route has several rows. */
  note: string;
  /** The actions, all of which the caller must be allowed to perform; or the group of permitted callers. */
  needs: readonly Action[] | Circle;
  /** For a parameter of the route, the name of the prepared id to use; by default, the name of the parameter itself. */
  ids: Readonly<Record<string, string>>;
  query?: (prepared: PreparedCaller) => string;
  /** The body of the call; by default the example body of object-ids.ts. */
  body?: (prepared: PreparedCaller) => unknown;
  /** Prepares the call. Returns false if the call needs the lock and the caller does not hold it. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most arrangements have nothing to answer
  before?: (prepared: PreparedCaller) => Promise<boolean | void>;
  /** The object that a successful call uses up, and that is then recreated. */
  spends?: Renewable;
  /**
   * The status that permitted callers receive, if it differs from the route's success status because another rule
   * refuses the call.
   */
  allowed?: number;
  /** Whether the call is refused with 404 although the route needs no credentials. */
  hidden?: (prepared: PreparedCaller) => boolean;
  /**
   * When the call is made:
   *
   * - `together`: concurrently with the calls of other callers.
   * - `alone`: not concurrently, because it changes shared data.
   * - `apart`: in a separate organization, because the call deletes it or changes its token.
   * - `forced`: after the owners have allowed workspace admins to force-delete.
   * - `last`: at the end, because it changes the caller.
   */
  pass: "together" | "alone" | "apart" | "forced" | "last";
  /** Whether the row applies to a caller; the cells of other callers are empty. */
  only?: (prepared: PreparedCaller) => boolean;
}

/** Makes a row of the table; `needs` may be a single action. */
export function row(
  route: string,
  needs: Action | readonly Action[] | Circle,
  more: Partial<Omit<Row, "route" | "needs">> = {},
): Row {
  const all = typeof needs === "string" && isAction(needs) ? [needs] : needs;
  return { route, needs: all, note: "", ids: {}, pass: "together", ...more };
}

const isAction = (needs: Action | Circle): needs is Action => needs.includes(":");
