import type { FieldError } from "@statehouse/errors";
import type Koa from "koa";
import type { Caller } from "../authentication.ts";
import type { Route } from "../route.ts";

/** The values in `ctx.state`, with which middleware passes data to other middleware. */
export interface RequestState {
  /** Set by `routing`; undefined if no route matches. */
  route: Route | undefined;
  /** Set by `errors`: the error with which the request failed. */
  failure: unknown;
  /** Set by `errors`: the code of the first error in the response. */
  code: string | undefined;
  /** Set by `authenticate`. */
  caller: Caller;
  /** Set by `body`: the parsed body. If there are `problems`, this is the valid part. */
  body: unknown;
  problems: readonly FieldError[];
  /** Set by `body`: whether the body arrived only after the request was authenticated. */
  bodyArrivedLater: boolean;
  /** Set by `respond` if the body contains a secret or a URL that grants access. */
  hasSecret?: boolean;
}

export type Middleware = Koa.Middleware<RequestState>;
export type RequestCtx = Koa.ParameterizedContext<RequestState>;
