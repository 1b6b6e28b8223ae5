import type { Caller } from "@statehouse/authorization";

/** What a method gets beside its request: who calls, with grants. */
export interface Context {
  caller: Caller;
}
