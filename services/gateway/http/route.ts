import type { Run } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { Edition, Feature } from "@statehouse/runtime";
import type { z } from "zod";
import type { IncludeTree } from "../jsonapi/include.ts";
import type { Page } from "../jsonapi/pagination.ts";
import type { Pointers } from "../jsonapi/pointers.ts";
import type { ResourceDescription } from "../jsonapi/resource.ts";
import { type Caller, type CredentialType, longLivedCredentials } from "./authentication.ts";
import type { ClientFactory } from "./clients.ts";
import type { Load } from "./loader.ts";
import type { ObjectUpload } from "./object-upload.ts";
import type { Queries, ValuesOf } from "./query.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type SuccessStatus = 200 | 201 | 204;
export type FailureStatus = 400 | 403 | 404 | 409 | 412 | 413 | 422 | 503;

/** The settings of the installation that documents show. */
export interface Settings {
  /** Whether a runner service executes runs. */
  remoteOperations: boolean;
  /** The base of the installation's addresses. */
  publicUrl: string;
}

/** The context that handlers and resources receive. */
export interface RequestContext {
  client: ClientFactory;
  objects: ObjectUpload;
  /** Loads runs. Each run is loaded once in a request, because several resources of one document can need it. */
  runs: Load<Run>;
  /** The principal of the request, which the gateway asserts in every call to a service. */
  caller: Caller;
  edition: Edition;
  settings: Settings;
}

/** The values that rendering needs in addition to the handler's result. */
export interface Rendered {
  context: RequestContext;
  includes: IncludeTree | undefined;
  /** The requested page, if the route has the query parameters of a page and the query names one. */
  page: Page | undefined;
  /** Returns the absolute URL of the request, on which the links of lists are based. */
  url: () => string;
  /** Called if the body of the response contains a secret or a URL that grants access. */
  onSecret: () => void;
}

/** The form of the body of a response. */
export type Content =
  | {
      /** A document of one resource, a page of a list, or a complete list without paging. */
      readonly form: "one" | "page" | "list";
      /** The possible resources. */
      readonly resources: readonly ResourceDescription[];
    }
  | { readonly form: "json"; readonly schema: z.ZodType }
  | { readonly form: "text" };

/** Turns a handler's result into the body of a response. */
export interface Rendering<Result> {
  readonly contentType: string;
  readonly content: Content;
  readonly headers?: Readonly<Record<string, string>>;
  render(result: Result, rendered: Rendered): Promise<string> | string;
}

/** The type of a path's parameters: an object with one member for each `:name` in the path. */
export type ParamsOf<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParamsOf<Head> & ParamsOf<Tail>
  : Path extends `:${infer Name}`
    ? { readonly [N in Name]: string }
    : unknown;

export interface RouteInput<Path extends string, Body, Values = Readonly<Record<never, never>>>
  extends RequestContext {
  params: ParamsOf<Path>;
  body: Body;
  /**
   * True if the body is invalid. `body` is then its valid part, and the service only validates it and changes nothing.
   */
  validateOnly: boolean;
  /** The values of the query parameters that the route declares. */
  query: Values;
}

/** The prefixes of route paths: the API, or the root for discovery. */
const prefixes = { api: "/api/v2", root: "" } as const;

export interface RouteDeclaration<
  Path extends string,
  Body extends z.ZodType,
  Result,
  Q extends Queries,
> {
  method: Method;
  path: Path;
  summary: string;
  /** The query parameters that the route reads; all others are ignored. */
  query?: Q;
  /** The prefix of `path`; `api` if omitted. */
  under?: keyof typeof prefixes;
  /** Schema of the JSON body; if omitted, the body is ignored. */
  body?: Body;
  /** Maximum size of the body in bytes; 1 MiB if omitted. The installation's limit also applies. */
  maxBodyBytes?: number;
  /**
   * Whether the service's method supports `validate_only`. If so, a body that does not match the schema is still sent
   * to the service for validation, without its invalid fields, so that the client receives all problems of a request in
   * one response.
   */
  validatesOnly?: boolean;
  /** The JSON pointers of fields of the gRPC message that are not attributes of the same name in the body. */
  pointers?: Pointers;
  /** Supported includes; nested includes are paths such as `run.created_by`. */
  includes?: readonly string[];
  /** The names in `includes` that every document of the route includes, even if the query does not contain them. */
  alwaysIncludes?: readonly string[];
  success: readonly [200 | 201, Rendering<Result>] | readonly [204];
  /**
   * Failure statuses in addition to those that many routes share, such as 401, 429 and 500 (`failuresOf` of
   * openapi/document.ts).
   */
  failures: readonly FailureStatus[];
  /** The kinds of tokens that the route accepts; if omitted, all of them. `none`: no token is required. */
  credentials?: "none" | readonly CredentialType[];
  /** The route exists only in editions with this feature. */
  edition?: Feature;
  headers?: (edition: Edition) => Readonly<Record<string, string>>;
  handle(input: RouteInput<Path, z.infer<Body>, ValuesOf<Q>>): Promise<Result> | Result;
}

/** A route in the form in which the router and the coverage test use it. */
export interface Route {
  readonly method: Method;
  /** The complete path, including its prefix, with `:name` parameters. */
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
  readonly alwaysIncludes: readonly string[];
  readonly query: Queries;
  readonly contentType: string | undefined;
  /** The form of the body of a successful response, for the OpenAPI document. */
  readonly content: Content | undefined;
  readonly headers: (edition: Edition) => Readonly<Record<string, string>>;
  /** Handles the request and renders the result; returns the text of the body, if there is one. */
  readonly answer: (
    input: RouteInput<string, unknown, unknown>,
    rendered: Omit<Rendered, "page">,
  ) => Promise<string | undefined>;
}

/**
 * The maximum size of a body on routes that declare no limit, in bytes. All documents that clients send to such routes
 * are smaller.
 */
const MAX_BODY_BYTES = 1024 * 1024;

/** Declares a route. The router and the coverage test are derived from these declarations. */
export function route<
  Path extends string,
  Body extends z.ZodType,
  Result,
  // biome-ignore lint/complexity/noBannedTypes: the type of a route without query parameters
  Q extends Queries = {},
>(declaration: RouteDeclaration<Path, Body, Result, Q>): Route {
  const { under = "api", success, includes = [], alwaysIncludes = [], query = {} } = declaration;
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
    alwaysIncludes,
    query,
    contentType: rendering?.contentType,
    content: rendering?.content,
    headers: (edition) => ({ ...rendering?.headers, ...declaration.headers?.(edition) }),
    answer: async (input, rendered) => {
      // Safe cast: the declaration's path determines `params`, its schema has parsed the body or the body's valid part,
      // and its `query` has read the values of the query.
      const declared = input as RouteInput<
        Path,
        z.infer<Body>,
        ValuesOf<Q> & { readonly page?: Page | undefined }
      >;
      const result = await declaration.handle(declared);
      return rendering?.render(result, { ...rendered, page: declared.query.page });
    },
  };
}

/** Declares a route that accepts no run tokens. */
export const routeForLongLivedCredentials: typeof route = (declaration) =>
  route({ ...declaration, credentials: longLivedCredentials });
