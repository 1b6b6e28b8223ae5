import {
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Principal } from "@statehouse/authorization";
import {
  type Callers,
  callers,
  max_request_bytes as declaredMaxRequestBytes,
} from "@statehouse/proto/statehouse/rpc/v1/options";
import type { CallContext } from "./caller.ts";

/** The fields of a response. If its message has no fields, the result of the function is ignored. */
type ResponseOf<Output extends DescMessage> =
  Exclude<keyof MessageShape<Output>, keyof Message> extends never
    ? unknown
    : MessageInitShape<Output>;

/** One async function for each method of the service. */
export type ServiceImpl<S extends DescService, Ctx = CallContext> = {
  [M in keyof S["method"]]: (
    request: MessageShape<S["method"][M]["input"]>,
    context: Ctx,
  ) => Promise<ResponseOf<S["method"][M]["output"]>>;
};

type AnyMethod<Ctx> = (
  request: never,
  context: Ctx,
) => Promise<Record<string, unknown> | undefined>;

/** A service definition and its implementation. */
export interface ServiceBinding<Ctx = CallContext> {
  desc: DescService;
  methods: Readonly<Record<string, AnyMethod<Ctx>>>;
}

/** Binds an implementation to its service definition. */
export const implement = <S extends DescService, Ctx>(
  desc: S,
  impl: ServiceImpl<S, Ctx>,
): ServiceBinding<Ctx> => ({ desc, methods: impl as Record<string, AnyMethod<Ctx>> });

/** Returns `/package.Service/Method`, the form in which gRPC addresses a method. */
export const methodPath = (method: DescMethod): string =>
  `/${method.parent.typeName}/${method.name}`;

/** Returns whether the method is declared free of side effects. */
export const isRead = (method: DescMethod): boolean =>
  method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** Returns whether a call that had no response can be repeated safely. */
export const isIdempotent = (method: DescMethod): boolean =>
  method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;

/**
 * The declared callers of each method. Reading the `callers` option decodes it, so it is read once for each method
 * instead of for each call.
 */
const declaredCallers = new WeakMap<DescMethod, Callers>();

/** Returns whether the method's `callers` option allows the principal. A method without the option has no callers. */
export function mayCall(method: DescMethod, principal: Principal): boolean {
  const declared = declaredCallers.getOrInsertComputed(method, (of) => getOption(of, callers));
  if (principal.type !== "service") return declared.users;
  return declared.services.includes(principal.id) || (declared.runners && isRunner(principal.id));
}

const DEFAULT_MAX_REQUEST_BYTES = 4 * 1024 ** 2;

/** Returns the maximum size of the method's requests, in bytes. */
export const maxRequestBytes = (method: DescMethod): number =>
  getOption(method, declaredMaxRequestBytes) || DEFAULT_MAX_REQUEST_BYTES;

/** Returns whether a service of this name executes runs. An installation can have any number of such services. */
const isRunner = (name: string): boolean => name === "runner" || name.startsWith("runner-");
