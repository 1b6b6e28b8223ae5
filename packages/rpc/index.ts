export {
  type AssertionKeys,
  type CallOptions,
  createIdentity,
  generateAssertionKey,
  type ServiceIdentity,
} from "./assertion.ts";
export {
  type CallContext,
  type CallerFactory,
  createCallers,
  type GrantsLoader,
} from "./caller.ts";
export type { CallMetadata, Channel } from "./channel.ts";
export { type Client, callCount, createClient } from "./client.ts";
export { failedService } from "./error.ts";
export { grantsFromAccess } from "./grants.ts";
export { grpcChannel } from "./grpc-channel.ts";
export { type GrpcTls, namesOf, openGrpcTls, type TlsFiles } from "./grpc-tls.ts";
export { createRpcServer, type RpcServer, type RpcServerOptions } from "./server.ts";
export { implement, isRead, type ServiceBinding, type ServiceImpl } from "./service.ts";
