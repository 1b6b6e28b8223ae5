import type { Edition, Feature } from "@statehouse/runtime";
import type { z } from "zod";
import type { Clients } from "../clients.ts";
import type { IncludeTree } from "../jsonapi/include.ts";
import type { Pointers } from "../jsonapi/pointers.ts";
import type { ObjectUpload } from "../object-upload.ts";
import type { Caller, CredentialType } from "./authentication.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export type SuccessStatus = 200 | 201 | 204;
export type FailureStatus = 400 | 403 | 404 | 409 | 412 | 413 | 422 | 503;

/** What the installation chose, as far as documents show it. */
export interface Settings {
  /** Whether a runner service executes runs. */
  remoteOperations: boolean;
}

/** What handlers and resources work with. */
export interface RequestContext {
  client: Clients;
  objects: ObjectUpload;
  /** The principal that the request is made for; every call to a service names it. */
  caller: Caller;
  edition: Edition;
  settings: Settings;
}

/** What rendering needs beside the result. */
export interface Rendered {
  context: RequestContext;
  includes: IncludeTree | undefined;
  /** Absolute address of the request, for the links of lists. */
  url: () => string;
}

/** How a result becomes the body of an answer. */
export interface Rendering<Result> {
  readonly contentType: string;
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
  /** The body breaks its schema: `body` is the part that parses, and the service validates it and changes nothing. */
  validateOnly: boolean;
  query: URLSearchParams;
}

/** The places where routes are: the API proper, or the root for what clients look for there. */
const prefixes = { api: "/api/v2", root: "" } as const;

export interface RouteDeclaration<Path extends string, Body extends z.ZodType, Result> {
  method: Method;
  path: Path;
  summary: string;
  /** Where `path` starts; `api` when left out. */
  under?: keyof typeof prefixes;
  /** What the JSON body must be; without it a body is ignored, whatever it is. */
  body?: Body;
  /**
   * Whether the service's method has `validate_only`, so that it also validates what parses of a body that breaks
   * its schema: a client gets all problems of a request at once.
   */
  validatesOnly?: boolean;
  /** Where the body holds fields of the service's message that are not the attribute of the same name. */
  pointers?: Pointers;
  /** Includes that it knows, with their nested paths. */
  includes?: readonly string[];
  success: readonly [200 | 201, Rendering<Result>] | readonly [204];
  /** What may also be answered, beside what every route may: 401, 405, 500, 504. */
  failures: readonly FailureStatus[];
  /** Who may call it; everybody with a token when left out, `none`: without one. */
  credentials?: "none" | readonly CredentialType[];
  /** Exists only in editions that have it. */
  edition?: Feature;
  headers?: (edition: Edition) => Readonly<Record<string, string>>;
  handle(input: RouteInput<Path, z.infer<Body>>): Promise<Result> | Result;
}

/** A route as the server and the coverage test see it. */
export interface Route {
  readonly method: Method;
  /** In full, with `:name` parts. */
  readonly path: string;
  readonly summary: string;
  readonly success: SuccessStatus;
  readonly failures: readonly FailureStatus[];
  readonly credentials: "none" | readonly CredentialType[] | undefined;
  readonly edition: Feature | undefined;
  readonly body: z.ZodType | undefined;
  readonly validatesOnly: boolean;
  readonly pointers: Pointers | undefined;
  readonly includes: readonly string[];
  readonly contentType: string | undefined;
  readonly headers: ((edition: Edition) => Readonly<Record<string, string>>) | undefined;
  /** Handles and renders; the text of the body, if it has one. */
  readonly answer: (
    input: RouteInput<string, unknown>,
    rendered: Rendered,
  ) => Promise<string | undefined>;
}

/** Declares a route. Router and coverage test are made from declarations. */
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
    validatesOnly: declaration.validatesOnly ?? false,
    pointers: declaration.pointers,
    includes,
    contentType: rendering?.contentType,
    headers: declaration.headers,
    answer: async (input, rendered) => {
      // The router found `params` by this path, and the body passed this schema or is the part of it that parses.
      const result = await declaration.handle(input as RouteInput<Path, z.infer<Body>>);
      return rendering?.render(result, rendered);
    },
  };
}
