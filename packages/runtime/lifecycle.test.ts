import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const runtime = new URL("./index.ts", import.meta.url).href;

/** Starts a minimal service in a separate process, because signals and exit codes are under test. */
function service(start: string): ChildProcess {
  const program = `
    import { ConfigError, runService, StartError } from ${JSON.stringify(runtime)};
    await runService(async () => { ${start} });
  `;
  return spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function outcome(child: ChildProcess) {
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : "",
    child.stderr ? text(child.stderr) : "",
    once(child, "exit"),
  ]);
  return { stdout, stderr, code };
}

const running = `
  setInterval(() => {}, 1000);
  setImmediate(() => console.log("started"));
  return {
    drain: async () => console.log("drained"),
    [Symbol.asyncDispose]: async () => console.log("disposed")
  };
`;

test.each(["SIGTERM", "SIGINT"] as const)("%s drains, disposes and exits 0", async (signal) => {
  const child = service(running);
  child.stdout?.once("data", () => child.kill(signal));
  expect(await outcome(child)).toEqual({
    stdout: "started\ndrained\ndisposed\n",
    stderr: "",
    code: 0,
  });
});

test("a second signal while the service drains exits with 1", async () => {
  const draining = running.replace(
    'async () => console.log("drained")',
    '() => { console.log("drains"); return new Promise(() => {}); }',
  );
  const child = service(draining);
  child.stdout?.on("data", () => child.kill("SIGTERM"));
  expect(await outcome(child)).toEqual({ stdout: "started\ndrains\n", stderr: "", code: 1 });
});

test("disposal that exceeds its limit is aborted", async () => {
  const stuck = running.replace(
    'async () => console.log("disposed")',
    "() => new Promise(() => {}), stopMs: 50",
  );
  const child = service(stuck);
  child.stdout?.once("data", () => child.kill("SIGTERM"));
  const { stderr, code } = await outcome(child);
  expect({ stderr, code }).toEqual({
    stderr: "Stopping took longer than 50 ms; remaining requests are closed.\n",
    code: 1,
  });
});

test.each(["ConfigError", "StartError"])(
  "%s at start prints a sentence without a stack",
  async (kind) => {
    const { stderr, code } = await outcome(service(`throw new ${kind}("PORT: is taken");`));
    expect({ stderr, code }).toEqual({ stderr: "PORT: is taken\n", code: 1 });
  },
);

test("any other error at start prints its stack", async () => {
  const { stderr, code } = await outcome(service(`throw new TypeError("a bug");`));
  expect(code).toBe(1);
  expect(stderr).toMatch(/TypeError: a bug\n\s+at /);
});
