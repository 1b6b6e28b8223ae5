import { startTelemetry } from "@statehouse/runtime/telemetry";

await startTelemetry({ service: "standalone" });
const { run } = await import("./run.ts");
await run(process.argv.slice(2));
