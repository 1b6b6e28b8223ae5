import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { connectNats, ensureStreams, eventType } from "@statehouse/events";
import { sampleEvent } from "@statehouse/events/catalog";
import { WorkspaceLockedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import {
  childEnvironment,
  followProcess,
  needs,
  ownNats,
  runProgram,
  temporaryFolder,
  waitFor,
} from "@statehouse/testing";
import { expect, test } from "vitest";
import { buildDrivers, goEnvironment, goFolder, type Language, languages } from "./drivers.ts";

const root = path.resolve(import.meta.dirname, "../..");
const documentation = readFileSync(path.join(root, "docs/events.md"), "utf8");
const login = { user: "statehouse", password: "of-the-bus" };
/** Time limit for downloading and compiling the packages, which is necessary once on each machine. */
const BUILD_MS = 600_000;

/** Returns the first program of a language in docs/events.md. */
function programOf(fence: string): string {
  const [, program] = new RegExp(`\`\`\`${fence}\\n([^]*?)\`\`\``).exec(documentation) ?? [];
  if (!program) throw new Error(`docs/events.md has no program in ${fence}`);
  return program;
}

needs(
  "nats-server",
  "go",
  "python client",
)("the first subscription of docs/events.md", () => {
  test("runs as it is written, in each language", { timeout: BUILD_MS }, async () => {
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await temporaryFolder()).path;
    const drivers = await buildDrivers(stack.use(await temporaryFolder()).path);
    const server = stack.use(await ownNats({ login }));
    const nats = stack.use(connectNats({ url: server.url, name: "test", login }));
    await ensureStreams(nats, {});
    const write = async (name: string, fence: string) => {
      const program = programOf(fence);
      expect(program).toContain("nats://127.0.0.1:4222");
      const file = path.join(folder, name);
      await writeFile(file, program.replace("nats://127.0.0.1:4222", server.url));
      return file;
    };
    const javaScript = await write("billing.mjs", "js");
    await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
    const python = await write("billing.py", "python");
    await write("main.go", "go");
    const go = path.join(folder, "billing");
    for (const args of [
      ["mod", "init", "billing"],
      ["mod", "edit", "-replace", `statehouse.example/events=${goFolder}`],
      ["mod", "tidy"],
      ["build", "-o", go, "."],
    ]) {
      const env = { ...goEnvironment(), GOFLAGS: "-mod=mod" };
      const { code, output } = await runProgram("go", args, { cwd: folder, env });
      expect(code, output).toBe(0);
    }
    const commands: Record<Language, [command: string, args: string[]]> = {
      typescript: [process.execPath, [javaScript]],
      go: [go, []],
      python: [drivers.python.command, [python]],
    };
    for (const language of languages) {
      const [command, args] = commands[language];
      const env = { ...drivers[language].env, NATS_PASSWORD: login.password };
      const child = spawn(command, args, { cwd: folder, env: childEnvironment(env) });
      const running = followProcess(child);
      stack.defer(() => void child.kill("SIGKILL"));
      const workspaceId = `ws-${language}`;
      const named = headers();
      named.set("ce-subject", workspaceId);
      named.set("ce-sequence", "00000000000000000007");
      const { payload } = sampleEvent(WorkspaceLockedSchema);
      await jetstream(await nats.connection()).publish(
        `${eventType(WorkspaceLockedSchema)}.org-1`,
        JSON.stringify({ ...payload, workspaceId, holderId: "user-1" }),
        { headers: named },
      );
      const line = `${workspaceId} locked by user-1 revision 7`;
      await waitFor(() => running.output().includes(line), {
        what: `${language}: ${line}`,
        program: running,
      });
      child.kill("SIGTERM");
      expect(await running.exit, running.output()).toBe(0);
    }
  });
});
