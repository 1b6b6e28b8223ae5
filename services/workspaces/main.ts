import { readConfig, runService } from "@statehouse/runtime";
import { startTelemetry } from "@statehouse/runtime/telemetry";

await runService(async () => {
  await using starting = new AsyncDisposableStack();
  // Before anything that makes instruments is imported.
  starting.use(await startTelemetry({ service: "workspaces" }));
  const [{ configSchema }, { start }] = await Promise.all([
    import("./config.ts"),
    import("./start.ts"),
  ]);
  starting.use(await start(readConfig(configSchema)));
  return starting.move();
});
