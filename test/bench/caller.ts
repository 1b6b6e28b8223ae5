import { type Api, api } from "../stack/http.ts";
import type { Person } from "../stack/people.ts";
import type { Stack } from "../stack/stack.ts";

/** Somebody who calls, by themselves or by the load generator. */
export interface Caller {
  name: string;
  headers: Record<string, string>;
  api: Api;
}

/** Somebody as a caller. */
export const callerOf = ({ url }: Stack, { username, token }: Person): Caller => ({
  name: username,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
  api: api(url, token),
});
