import { metrics, type ObservableResult } from "@opentelemetry/api";
import { type GrpcTls, openGrpcTls } from "@statehouse/rpc";
import type { grpcTlsSettings, Logger } from "@statehouse/runtime";
import type { z } from "zod";

export type GrpcTlsConfig = z.output<z.ZodObject<typeof grpcTlsSettings>>;

/** Opens mutual TLS according to the settings; returns undefined if it is switched off. */
export function grpcTlsOf(config: GrpcTlsConfig): GrpcTls | undefined {
  if (config.GRPC_TLS === "off") return undefined;
  const { GRPC_CA_FILE = "", GRPC_CERT_FILE = "", GRPC_KEY_FILE = "" } = config;
  return openGrpcTls({ caFile: GRPC_CA_FILE, certFile: GRPC_CERT_FILE, keyFile: GRPC_KEY_FILE });
}

/**
 * Works like `grpcTlsOf`, for the start of a service. Also exposes the expiry of the certificates as metrics until
 * `stack` is disposed. Logs a warning if TLS is switched off.
 */
export function startGrpcTls(
  config: GrpcTlsConfig,
  logger: Logger,
  stack: AsyncDisposableStack,
): GrpcTls | undefined {
  const tls = grpcTlsOf(config);
  if (tls) stack.use(observeExpiry(tls));
  else logger.warn("GRPC_TLS is off: calls between the services are not encrypted");
  return tls;
}

function observeExpiry(tls: GrpcTls): Disposable {
  const gauge = metrics
    .getMeter("statehouse/service")
    .createObservableGauge("statehouse_certificate_expiry_timestamp_seconds", {
      description:
        "Expiry of the service's certificate, and the earliest expiry of the authorities' certificates, in seconds since 1970",
    });
  const observe = (result: ObservableResult) => {
    for (const [certificate, time] of Object.entries(tls.expiries())) {
      result.observe(time.getTime() / 1000, { certificate });
    }
  };
  gauge.addCallback(observe);
  return { [Symbol.dispose]: () => gauge.removeCallback(observe) };
}
