import type { FieldError } from "@statehouse/errors";
import type Koa from "koa";
import type { Caller } from "../authentication.ts";
import type { Route } from "../route.ts";

/** What middleware leaves on `ctx.state` for the middleware around and after it. */
export interface RequestState {
  /** By `routing`; undefined where no route matches. */
  route: Route | undefined;
  /** By `errors`: what the request failed with. */
  failure: unknown;
  /** By `authenticate`. */
  caller: Caller;
  /** By `body`: the parsed body; with `problems` the part that parses. */
  body: unknown;
  problems: readonly FieldError[];
}

export type Middleware = Koa.Middleware<RequestState>;
export type RequestCtx = Koa.ParameterizedContext<RequestState>;
