import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import {
  AppError,
  deadlineExceeded,
  type ErrorKind,
  errorKinds,
  unavailable,
} from "@statehouse/errors";
import { ErrorDetailSchema } from "@statehouse/proto/statehouse/rpc/v1/error";

/** The trailer that carries the encoded AppError. gRPC sends trailers whose names end in -bin as bytes. */
export const detailTrailer = "statehouse-error-bin";

/** The gRPC status code of each error kind. */
const codes = {
  badRequest: status.FAILED_PRECONDITION,
  unauthenticated: status.UNAUTHENTICATED,
  notFound: status.NOT_FOUND,
  forbidden: status.PERMISSION_DENIED,
  invalid: status.INVALID_ARGUMENT,
  conflict: status.FAILED_PRECONDITION,
  precondition: status.FAILED_PRECONDITION,
  rateLimited: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  deadlineExceeded: status.DEADLINE_EXCEEDED,
} as const satisfies Record<ErrorKind, status>;

export const codeOf = (error: AppError): status => codes[error.kind];

/** Encodes an error for transfer between processes. */
export const errorToBytes = (error: AppError): Uint8Array =>
  toBinary(
    ErrorDetailSchema,
    create(ErrorDetailSchema, {
      kind: error.kind,
      reason: error.reason,
      message: error.message,
      fields: error.fields.map(({ field, detail, title = "" }) => ({ field, detail, title })),
      retryAfterSeconds: error.retryAfterSeconds ?? 0,
    }),
  );

const isKind = (kind: string): kind is ErrorKind => errorKinds.some((known) => known === kind);

/** Decodes an error. Returns undefined if the error kind is unknown. */
export function errorFromBytes(bytes: Uint8Array): AppError | undefined {
  const { kind, reason, message, fields, retryAfterSeconds } = fromBinary(ErrorDetailSchema, bytes);
  if (!isKind(kind)) return undefined;
  return new AppError(kind, reason, message, {
    fields: fields.map(({ field, detail, title }) => ({
      field,
      detail,
      ...(title ? { title } : {}),
    })),
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  });
}

/** Thrown for a request or a response that exceeds the maximum size of a message. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";
}

/**
 * Returns the error for a call that ended without an encoded AppError: there was no response, or the service failed
 * internally.
 */
export function errorFromStatus(code: status, details: string, audience: string): Error {
  if (code === status.UNAVAILABLE) {
    const message = `The ${audience} service does not answer.`;
    return unavailable("service_unavailable", message, new Error(details));
  }
  if (code === status.UNIMPLEMENTED) {
    // During an upgrade, a service of the previous release does not have the methods that this release adds, so the
    // call can succeed later.
    return unavailable(
      "method_unavailable",
      `The ${audience} service does not have the method yet.`,
    );
  }
  if (code === status.DEADLINE_EXCEEDED) return deadlineExceeded(`The ${audience} service`);
  if (code === status.RESOURCE_EXHAUSTED && /message larger than max/.test(details)) {
    return new MessageTooLarge(`${audience}: ${details}`);
  }
  return new Error(`${audience} returned ${status[code] ?? code}: ${details}`);
}

const failedServices = new WeakMap<Error, string>();

/** Remembers that a call of this service threw `error`. A service that it called itself takes precedence. */
export function blame(error: unknown, service: string): void {
  if (error instanceof Error && !failedServices.has(error)) failedServices.set(error, service);
}

/** Returns the service whose call threw `error`; undefined if no call threw it. */
export const failedService = (error: unknown): string | undefined =>
  error instanceof Error ? failedServices.get(error) : undefined;
