import { type GrpcTls, openGrpcTls } from "@statehouse/rpc";
import type { grpcTlsSettings, Logger } from "@statehouse/runtime";
import type { z } from "zod";

export type GrpcTlsConfig = z.output<z.ZodObject<typeof grpcTlsSettings>>;

/** Opens mutual TLS by the settings; undefined if it is switched off. `stack` closes it. */
export function grpcTlsOf(
  config: GrpcTlsConfig,
  logger: Logger,
  stack: AsyncDisposableStack,
): GrpcTls | undefined {
  if (config.GRPC_TLS === "off") return undefined;
  const { GRPC_CA_FILE = "", GRPC_CERT_FILE = "", GRPC_KEY_FILE = "" } = config;
  const files = { caFile: GRPC_CA_FILE, certFile: GRPC_CERT_FILE, keyFile: GRPC_KEY_FILE };
  return stack.use(openGrpcTls(files, { logger }));
}

/** Like `grpcTlsOf`, for the start of a service: logs a warning if TLS is switched off. */
export function startGrpcTls(
  config: GrpcTlsConfig,
  logger: Logger,
  stack: AsyncDisposableStack,
): GrpcTls | undefined {
  const tls = grpcTlsOf(config, logger, stack);
  if (!tls) logger.warn("GRPC_TLS is off: calls between the services are readable on the network");
  return tls;
}
