import type { Caller } from "@statehouse/authorization";

/** What every method gets beside its request. */
export interface Context {
  caller: Caller;
}
