import type { FieldError } from "@statehouse/errors";
import type Koa from "koa";
import type { Caller } from "../authentication.ts";
import type { Route } from "../route.ts";

/** The values that middleware stores in `ctx.state` for the middleware around and after it. */
export interface RequestState {
  /** Set by `routing`; undefined if no route matches. */
  route: Route | undefined;
  /** Set by `errors`: the error with which the request failed. */
  failure: unknown;
  /** Set by `authenticate`. */
  caller: Caller;
  /** Set by `body`: the parsed body; if there are `problems`, its valid part. */
  body: unknown;
  problems: readonly FieldError[];
  /** By `body`: whether the body had not arrived when the request was authenticated. */
  bodyArrivedLater: boolean;
}

export type Middleware = Koa.Middleware<RequestState>;
export type RequestCtx = Koa.ParameterizedContext<RequestState>;
