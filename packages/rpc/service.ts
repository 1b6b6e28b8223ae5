import {
  type DescMethod,
  type DescService,
  getOption,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Principal } from "@statehouse/authorization";
import { type Callers, callers } from "@statehouse/proto/statehouse/rpc/v1/options";
import type { CallContext } from "./caller.ts";

/** One async function for each method of the service. */
export type ServiceImpl<S extends DescService, Ctx = CallContext> = {
  [M in keyof S["method"]]: (
    request: MessageShape<S["method"][M]["input"]>,
    context: Ctx,
  ) => Promise<MessageInitShape<S["method"][M]["output"]>>;
};

type AnyMethod<Ctx> = (request: never, context: Ctx) => Promise<Record<string, unknown>>;

/** A service and its implementation. */
export interface ServiceBinding<Ctx = CallContext> {
  desc: DescService;
  methods: Readonly<Record<string, AnyMethod<Ctx>>>;
}

/** Binds an implementation to its service. */
export const implement = <S extends DescService, Ctx>(
  desc: S,
  impl: ServiceImpl<S, Ctx>,
): ServiceBinding<Ctx> => ({ desc, methods: impl as Record<string, AnyMethod<Ctx>> });

/** `/package.Service/Method`, as gRPC addresses it. */
export const methodPath = (method: DescMethod): string =>
  `/${method.parent.typeName}/${method.name}`;

/** Whether a call changes nothing. */
export const isRead = (method: DescMethod): boolean =>
  method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

/** Whether a call without a response may be repeated. */
export const isIdempotent = (method: DescMethod): boolean =>
  method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;

/** Reading an option decodes it: once for each method, not for each call. */
const declaredCallers = new WeakMap<DescMethod, Callers>();

/** Whether the method declares the principal as a caller. A method without the option has no callers. */
export function mayCall(method: DescMethod, principal: Principal): boolean {
  let declared = declaredCallers.get(method);
  if (!declared) {
    declared = getOption(method, callers);
    declaredCallers.set(method, declared);
  }
  if (principal.type !== "service") return declared.users;
  return declared.services.includes(principal.id) || (declared.runners && isRunner(principal.id));
}

/** Whether a service of this name executes runs; an installation can have any number of them. */
const isRunner = (name: string): boolean => name === "runner" || name.startsWith("runner-");
