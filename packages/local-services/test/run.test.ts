import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { alive } from "../lock.mjs";

const run = fileURLToPath(new URL("../run.mjs", import.meta.url));

async function start(
  script: string,
  ...args: string[]
): Promise<ChildProcess & { output: Promise<string> }> {
  const folder = await mkdtempDisposable(path.join(tmpdir(), "statehouse-test-"));
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const file = path.join(folder.path, "script.ts");
  writeFileSync(file, script);
  const child = spawn(process.execPath, [run, file, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    // Runs in a separate process group, like a program started from a shell.
    detached: true,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return Object.assign(child, { output: text(child.stdout) });
}

const counting = `
  let heard = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      heard++;
      setTimeout(() => { console.log(signal, heard); process.exit(3); }, 300);
    });
  }
  setInterval(() => {}, 1000);
  console.log("ready");
`;

test("the script receives its arguments, and its exit code is returned", async () => {
  const child = await start(
    "console.log(process.argv.slice(2).join()); process.exit(5);",
    "a",
    "b",
  );
  expect(await once(child, "exit")).toEqual([5, null]);
  expect(await child.output).toBe("a,b\n");
});

test("compiled code is kept between runs", async () => {
  const child = await start(
    'console.log((await import("node:module")).getCompileCacheDir()); process.exit(0);',
  );
  expect(await child.output).toContain(process.env.NODE_COMPILE_CACHE ?? "node_modules");
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s is passed on to the script",
  async (signal) => {
    const child = await start(counting);
    await once(child.stdout ?? child, "data");
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([3, null]);
  },
);

test("Ctrl-C, which npm sends again, reaches the script once", async () => {
  const child = await start(counting);
  await once(child.stdout ?? child, "data");
  process.kill(-(child.pid ?? Number.NaN), "SIGINT");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([3, null]);
  expect(await child.output).toContain("SIGINT 1");
});

test("a script that ends by a signal ends the runner by the same signal", async () => {
  const child = await start('process.kill(process.pid, "SIGKILL");');
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});

test("the script does not outlive the runner", async () => {
  const child = await start("console.log(process.pid); setInterval(() => {}, 1000);");
  const [line] = await once(child.stdout ?? child, "data");
  child.kill("SIGKILL");
  await expect.poll(() => alive(Number(line))).toBe(false);
});

test.each(["SIGTERM", "SIGHUP", "SIGKILL"] as const)(
  "%s to npm alone ends the script cleanly",
  async (signal) => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), "statehouse-test-"));
    const file = (name: string) => path.join(folder.path, name);
    writeFileSync(
      file("script.ts"),
      `import { writeFileSync } from "node:fs";
       process.on("SIGTERM", () => { writeFileSync("ended", "SIGTERM"); process.exit(); });
       setInterval(() => {}, 1000);
       console.log("ready");`,
    );
    const scripts = { start: `${process.execPath} ${run} script.ts` };
    writeFileSync(file("package.json"), JSON.stringify({ type: "module", scripts }));
    const npm = spawn("npm", ["start", "--silent"], {
      cwd: folder.path,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(npm.stdout, "data");
    npm.kill(signal);
    await expect.poll(() => existsSync(file("ended"))).toBe(true);
  },
);
