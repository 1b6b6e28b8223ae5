import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Metadata,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "@statehouse/proto/grpc/health/v1/health";
import { withTimeout } from "@statehouse/runtime";
import { methodPath } from "./service.ts";

export interface HealthOptions {
  /** Resolves if the service can handle calls, otherwise throws the reason. */
  ready: () => Promise<void>;
  closing: () => boolean;
  /** Full names of the gRPC services on this port. All have the readiness of the process. */
  services: ReadonlySet<string>;
}

/** Names that health checks accept in addition to "" and the names of the gRPC services. */
const LIVENESS = "liveness";
const READINESS = "readiness";
const READY_TIMEOUT_MS = 2000;

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
const asBytes = (bytes: Buffer): Uint8Array => bytes;

/** The method `grpc.health.v1.Health/Check`. It is separate from the other methods because probes have no assertion. */
export const healthDefinition: ServiceDefinition = {
  check: {
    path: methodPath(Health.method.check),
    requestStream: false,
    responseStream: false,
    requestSerialize: asBuffer,
    requestDeserialize: asBytes,
    responseSerialize: asBuffer,
    responseDeserialize: asBytes,
  },
};

/** Implements health checks: `liveness` reports the process; "", `readiness` and each service name report readiness. */
export const healthImplementation = (options: HealthOptions): UntypedServiceImplementation => ({
  check: (
    { request }: ServerUnaryCall<Uint8Array, Uint8Array>,
    callback: sendUnaryData<Uint8Array>,
  ): void => {
    const { service } = fromBinary(HealthCheckRequestSchema, request);
    servingStatus(options, service).then((serving) => {
      if (serving === undefined) {
        callback({ code: status.NOT_FOUND, details: "unknown service", metadata: new Metadata() });
        return;
      }
      const answer = create(HealthCheckResponseSchema, { status: serving });
      callback(null, toBinary(HealthCheckResponseSchema, answer));
    }, callback);
  },
});

async function servingStatus(
  { ready, closing, services }: HealthOptions,
  service: string,
): Promise<ServingStatus | undefined> {
  if (service === LIVENESS) return ServingStatus.SERVING;
  if (service !== "" && service !== READINESS && !services.has(service)) return undefined;
  if (closing()) return ServingStatus.NOT_SERVING;
  try {
    await withTimeout(READY_TIMEOUT_MS, ready());
    return ServingStatus.SERVING;
  } catch {
    return ServingStatus.NOT_SERVING;
  }
}
