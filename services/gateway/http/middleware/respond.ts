import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { type Edition, runWithDeadline } from "@statehouse/runtime";
import { type IncludeTree, parseInclude } from "../../jsonapi/include.ts";
import type { ClientFactory } from "../clients.ts";
import { loaderOf } from "../loader.ts";
import type { ObjectUpload } from "../object-upload.ts";
import { readQueries } from "../query.ts";
import type { Route, Settings } from "../route.ts";
import { refuse, withPointers } from "../validation.ts";
import type { Middleware } from "./state.ts";

export interface RespondOptions {
  client: ClientFactory;
  objects: ObjectUpload;
  edition: Edition;
  settings: Settings;
  /** Time limit for handling and rendering a request, in ms. */
  requestTimeoutMs: number;
}

const noQuery = new URLSearchParams();

/** Calls the route's handler and renders its result. */
export const respond =
  (route: Route, options: RespondOptions): Middleware =>
  async (ctx) => {
    const { client, objects, edition, settings } = options;
    const { caller, body, problems } = ctx.state;
    const query = ctx.querystring ? new URLSearchParams(ctx.querystring) : noQuery;
    const includes = readIncludes(route, query);
    const validateOnly = problems.length > 0;
    const runs = loaderOf(
      async (ids) => (await client(RunService).batchGetRuns({ ids }, caller)).runs,
    );
    const context = { client, objects, runs, caller, edition, settings };
    const values = readQueries(route.query, query);
    const input = { ...context, params: ctx.params, query: values, body, validateOnly };
    const url = () => `${settings.publicUrl}${ctx.url}`;
    const onSecret = () => {
      ctx.state.hasSecret = true;
    };
    const answer = () =>
      withPointers(route.pointers, () =>
        runWithDeadline(Date.now() + options.requestTimeoutMs, () =>
          route.answer(input, { context, includes, url, onSecret }),
        ),
      );
    const text = await (validateOnly ? refuse(problems, answer) : answer());
    ctx.status = route.success;
    if (route.contentType) ctx.set("Content-Type", route.contentType);
    ctx.set(route.headers(edition));
    if (text !== undefined) ctx.body = text;
  };

/** Reads the parameter `include`. A route without includes ignores it, like any unknown parameter. */
function readIncludes(route: Route, query: URLSearchParams): IncludeTree | undefined {
  const { includes, alwaysIncludes } = route;
  if ((query === noQuery && alwaysIncludes.length === 0) || includes.length === 0) return undefined;
  const include = [query.get("include") ?? "", ...alwaysIncludes].join(",");
  const tree = parseInclude(include, includes);
  return tree.size > 0 ? tree : undefined;
}
