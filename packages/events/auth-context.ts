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

/** Returns the auth context of an actor. Ids of users, teams, organizations and runs have their own prefix. */
export const authContextOf = ({ type, id }: Pick<Actor, "type" | "id">): AuthContext => ({
  type: types[type],
  id: type === "service" || type === "operator" ? `${type}:${id}` : id,
});
