import { type Api, api } from "../stack/http.ts";
import type { Person } from "../stack/people.ts";
import type { Stack } from "../stack/stack.ts";

/** A caller that sends requests directly or through the load generator. */
export interface Caller {
  name: string;
  headers: Record<string, string>;
  api: Api;
}

/** A user as a caller. */
export const callerOf = ({ url }: Stack, { username, token }: Person): Caller => ({
  name: username,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
  api: api(url, token),
});
