import { type Action, allowed, type Grants, type Target } from "@statehouse/authorization";
import { forEachConcurrently } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { principalNotFound } from "../errors-domain.ts";
import { findRunGrants } from "../run-token/app.ts";

type PrincipalId = Grants["principal"];

/** Returns all grants of a principal, with the versions at which they were read. Throws `notFound`. */
export async function getGrants(app: App, principal: PrincipalId): Promise<Grants> {
  const grants = await findGrants(app, principal);
  if (!grants) throw principalNotFound();
  return grants;
}

const findGrants = (app: App, { type, id }: PrincipalId): Promise<Grants | undefined> =>
  type === "run" ? findRunGrants(app, id) : app.reads.grants.find({ type, id });

/** Asks whether a principal may perform at least one of several actions on a target. */
export interface ActionCheck {
  /** Undefined if the caller runs a newer release and sent a type of principal that is unknown in this release. */
  principal: PrincipalId | undefined;
  target: Target;
  actions: readonly Action[];
}

/** The maximum number of principals whose grants are read at the same time. */
const READ_AT_ONCE = 8;

/**
 * Returns for each check, in the same order, whether its principal may perform at least one of its actions. Returns
 * false for a principal that does not exist.
 */
export async function batchCheckActions(
  app: App,
  checks: readonly ActionCheck[],
): Promise<boolean[]> {
  const keyOf = ({ principal }: ActionCheck) => `${principal?.type} ${principal?.id}`;
  const principals = new Map(checks.map((check) => [keyOf(check), check.principal]));
  const found = new Map<string, Grants | undefined>();
  await forEachConcurrently(READ_AT_ONCE, [...principals], async ([key, principal]) => {
    found.set(key, principal && (await findGrants(app, principal)));
  });
  return checks.map((check) => {
    const grants = found.get(keyOf(check));
    return !!grants && check.actions.some((action) => allowed(grants, action, check.target));
  });
}
