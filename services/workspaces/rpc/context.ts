export type { CallContext as Context } from "@statehouse/rpc";
