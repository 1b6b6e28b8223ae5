import { type Api, api } from "../stack/http.ts";
import type { Person } from "../stack/people.ts";
import type { Stack } from "../stack/stack.ts";

/** A user whose requests are sent directly or by the load generator. */
export interface Caller {
  name: string;
  headers: Record<string, string>;
  api: Api;
}

/** Returns the caller for a user of a stack. */
export const callerOf = ({ url }: Stack, { username, token }: Person): Caller => ({
  name: username,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
  api: api(url, token),
});
