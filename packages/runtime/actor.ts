import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The kinds of actors. A team or an organization acts through one of its tokens. An operator acts through a command.
 */
export type ActorType = "user" | "team" | "organization" | "run" | "service" | "operator";

/** Who causes the current work. Events and the audit trail record the actor. It is never used for authorization. */
export interface Actor {
  type: ActorType;
  /** The id of the principal; for a service its name, for an operator the name of the account on the machine. */
  id: string;
  /** The id of the token that authenticated the request; undefined for services and operators. */
  tokenId?: string | undefined;
  /** The address of the client that sent the request; undefined for services and operators. */
  address?: string | undefined;
}

const actors = new AsyncLocalStorage<Actor>();

/** Runs `work` with this actor as the current actor. */
export const runAs = <T>(actor: Actor, work: () => T): T => actors.run(actor, work);

/** Returns who causes the current work; undefined for work that a service does by itself. */
export const currentActor = (): Actor | undefined => actors.getStore();
