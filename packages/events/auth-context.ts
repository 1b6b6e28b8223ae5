import type { Actor, ActorType } from "@statehouse/runtime";
import type { AuthContext } from "./event.ts";

const types: Record<ActorType, AuthContext["type"]> = {
  user: "user",
  team: "api_key",
  organization: "api_key",
  run: "service_account",
  service: "service_account",
  operator: "system",
};

/**
 * Returns the auth context of an actor. Names of services and operators get their type as a prefix; all other ids
 * already have a prefix.
 */
export const authContextOf = ({ type, id }: Pick<Actor, "type" | "id">): AuthContext => ({
  type: types[type],
  id: type === "service" || type === "operator" ? `${type}:${id}` : id,
});
