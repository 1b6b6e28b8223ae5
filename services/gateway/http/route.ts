import type { Run } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { Edition, Feature } from "@statehouse/runtime";
import type { z } from "zod";
import type { Clients } from "../clients.ts";
import type { IncludeTree } from "../jsonapi/include.ts";
import type { Pointers } from "../jsonapi/pointers.ts";
import type { ObjectUpload } from "../object-upload.ts";
import type { Caller, CredentialType } from "./authentication.ts";
import type { Load } from "./loader.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export type SuccessStatus = 200 | 201 | 204;
export type FailureStatus = 400 | 403 | 404 | 409 | 412 | 413 | 422 | 503;

/** Settings of the installation that documents show. */
export interface Settings {
  /** Whether a runner service executes runs. */
  remoteOperations: boolean;
}

/** The context of handlers and resources. */
export interface RequestContext {
  client: Clients;
  objects: ObjectUpload;
  /** Loads runs once for each request: several resources of one document need the same run. */
  runs: Load<Run>;
  /** The principal of the request, asserted with every call to a service. */
  caller: Caller;
  edition: Edition;
  settings: Settings;
}

/** What rendering needs in addition to the handler's result. */
export interface Rendered {
  context: RequestContext;
  includes: IncludeTree | undefined;
  /** Absolute URL of the request, from which the links of lists are made. */
  url: () => string;
}

/** How a handler's result becomes the body of a response. */
export interface Rendering<Result> {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  render(result: Result, rendered: Rendered): Promise<string> | string;
}

/** `:name` parts of a path. */
export type ParamsOf<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParamsOf<Head> & ParamsOf<Tail>
  : Path extends `:${infer Name}`
    ? { readonly [N in Name]: string }
    : unknown;

export interface RouteInput<Path extends string, Body> extends RequestContext {
  params: ParamsOf<Path>;
  body: Body;
  /** The body is invalid: `body` is its valid part; the service only validates it and changes nothing. */
  validateOnly: boolean;
  query: URLSearchParams;
}

/** The bases of route paths: the API, or the root for discovery. */
const prefixes = { api: "/api/v2", root: "" } as const;

export interface RouteDeclaration<Path extends string, Body extends z.ZodType, Result> {
  method: Method;
  path: Path;
  summary: string;
  /** The base of `path`; `api` if omitted. */
  under?: keyof typeof prefixes;
  /** Schema of the JSON body; without it a body is ignored. */
  body?: Body;
  /** Largest body; 1 MiB if omitted. The installation's limit applies too. */
  maxBodyBytes?: number;
  /**
   * Whether the service's method has `validate_only`, so that it also validates the valid part of an invalid body:
   * the client then receives all problems of a request in one response.
   */
  validatesOnly?: boolean;
  /** Positions in the body of message fields that differ from the attribute of the same name. */
  pointers?: Pointers;
  /** Supported includes with their nested paths. */
  includes?: readonly string[];
  success: readonly [200 | 201, Rendering<Result>] | readonly [204];
  /** Failure statuses in addition to those of every route: 401, 405, 500, 504. */
  failures: readonly FailureStatus[];
  /** Permitted credentials; every token if omitted; `none`: no token is required. */
  credentials?: "none" | readonly CredentialType[];
  /** The route exists only in these editions. */
  edition?: Feature;
  headers?: (edition: Edition) => Readonly<Record<string, string>>;
  handle(input: RouteInput<Path, z.infer<Body>>): Promise<Result> | Result;
}

/** A route in the form that the server and the coverage test use. */
export interface Route {
  readonly method: Method;
  /** The complete path, with `:name` parts. */
  readonly path: string;
  readonly summary: string;
  readonly success: SuccessStatus;
  readonly failures: readonly FailureStatus[];
  readonly credentials: "none" | readonly CredentialType[] | undefined;
  readonly edition: Feature | undefined;
  readonly body: z.ZodType | undefined;
  readonly maxBodyBytes: number;
  readonly validatesOnly: boolean;
  readonly pointers: Pointers | undefined;
  readonly includes: readonly string[];
  readonly contentType: string | undefined;
  readonly headers: (edition: Edition) => Readonly<Record<string, string>>;
  /** Handles and renders; returns the text of the body, if there is one. */
  readonly answer: (
    input: RouteInput<string, unknown>,
    rendered: Rendered,
  ) => Promise<string | undefined>;
}

/** Larger than every document that clients send, except those of the routes with their own limit. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Declares a route. The router and the coverage test are derived from declarations. */
export function route<Path extends string, Body extends z.ZodType, Result>(
  declaration: RouteDeclaration<Path, Body, Result>,
): Route {
  const { under = "api", success, includes = [] } = declaration;
  const [status, rendering] = success;
  return {
    method: declaration.method,
    path: `${prefixes[under]}${declaration.path}`,
    summary: declaration.summary,
    success: status,
    failures: declaration.failures,
    credentials: declaration.credentials,
    edition: declaration.edition,
    body: declaration.body,
    maxBodyBytes: declaration.maxBodyBytes ?? MAX_BODY_BYTES,
    validatesOnly: declaration.validatesOnly ?? false,
    pointers: declaration.pointers,
    includes,
    contentType: rendering?.contentType,
    headers: (edition) => ({ ...rendering?.headers, ...declaration.headers?.(edition) }),
    answer: async (input, rendered) => {
      // `params` come from this path, and the body passed this schema or is its valid part.
      const result = await declaration.handle(input as RouteInput<Path, z.infer<Body>>);
      return rendering?.render(result, rendered);
    },
  };
}
