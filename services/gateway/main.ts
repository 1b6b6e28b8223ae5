import { readConfig, runService, startOpsServer } from "@statehouse/runtime";
import { startTelemetry } from "@statehouse/runtime/telemetry";
import { configSchema } from "./config.ts";

await runService(async () => {
  const config = readConfig(configSchema);
  const stack = new AsyncDisposableStack();
  stack.use(await startTelemetry({ service: "gateway" }));
  const { start } = await import("./start.ts");
  const gateway = stack.use(await start(config));
  stack.use(
    await startOpsServer({
      host: config.HOST,
      port: config.OPS_PORT,
      checks: gateway.checks,
      required: [],
    }),
  );
  return stack;
});
