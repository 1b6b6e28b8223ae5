import type { Action } from "@statehouse/authorization";
import type { Answer } from "../../stack/http.ts";
import type { Renewable } from "./renewals.ts";
import type { Stage } from "./stage.ts";

/** Who may call a route, where no action of `packages/authorization` says so. */
export type Circle =
  /** Without a token too. */
  | "anybody"
  | "every token"
  /** All but runs, and tokens that only read the audit trail. */
  | "who stands for somebody"
  | "administrators"
  /** The user that the row is about. */
  | "the user itself"
  /** Likewise in an organization, unless that takes no user tokens. */
  | "the member itself"
  /** Who is asked to join. */
  | "the invited user"
  | "nobody"
  /** Whoever shares an organization with the user. */
  | "colleagues"
  /** Whoever manages teams; users in the team too, as its settings say. */
  | "trusted members"
  /** The team's members, and who sees secret teams. */
  | "whoever sees the secret team"
  /** Of the team of owners only owners make tokens and members. */
  | "owners";

export interface Row {
  /** As `GET /api/v2/ping`; the route's own declaration. */
  route: string;
  /** Which case of the route, if it has several rows. */
  note: string;
  /** The actions that are needed, all of them; or the circle of those who may. */
  needs: readonly Action[] | Circle;
  /** Other ids than those of the estate by the parameters' own names. */
  ids: Readonly<Record<string, string>>;
  query?: (stage: Stage) => string;
  /** Instead of the example of access.test.ts. */
  body?: (stage: Stage) => unknown;
  /** Arranges what the call is about; answers false if the caller does not hold the lock it should. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most arrangements have nothing to answer
  before?: (stage: Stage) => Promise<boolean | void>;
  /** What a call that was allowed has used up, and what it has made too much. */
  spends?: Renewable;
  after?: (stage: Stage, answer: Answer) => Promise<unknown>;
  /** What those hear who may, where that is not the route's success: a rule is in the way. */
  allowed?: number;
  /**
   * Beside which other calls it runs: of other callers; of none, since it changes what all share; in an organization
   * made for it, which it would take from all others; after owners let workspace admins delete by force; last of all,
   * since the caller is another afterwards.
   */
  pass: "together" | "alone" | "apart" | "forced" | "last";
  /** Who calls; the cells of others stay empty. */
  only?: (stage: Stage) => boolean;
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
