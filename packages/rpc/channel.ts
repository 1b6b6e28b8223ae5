import type { DescMethod } from "@bufbuild/protobuf";

/** What travels with a call beside its message. */
export interface CallMetadata {
  assertion: string;
  traceparent: string | undefined;
  /** Epoch, ms. */
  deadline: number;
}

/** A road to one service. Both kinds carry protobuf binary, never shared objects. */
export interface Channel extends AsyncDisposable {
  /** The service at its end, for whom assertions are made. */
  readonly audience: string;
  /** Throws AppError as the service threw it, `unavailable` when it does not answer. */
  call(method: DescMethod, request: Uint8Array, metadata: CallMetadata): Promise<Uint8Array>;
}
