import { readFileSync } from "node:fs";
import { serviceNames } from "@statehouse/standalone/environments";
import { needs } from "@statehouse/testing";
import { expect, test } from "vitest";
import { workingFolder } from "../compat/command-line.ts";
import { cloud, example, exampleOutputs } from "../compat/fixture.ts";
import { download } from "../stack/http.ts";
import { readiness } from "../stack/processes.ts";
import { startProcesses } from "../stack/stack.ts";
import { useStack } from "../system/fixture.ts";
import { smoke } from "../system/smoke.ts";
import { uploadDuringStop } from "../system/upload-during-stop.ts";
import { containerProcess, filesOf } from "./container-process.ts";
import { useImage } from "./use-image.ts";

/** A script that prints which files and folders of the container it can write to, except in /proc, /dev and /tmp. */
const writablePlaces = `
const fs = require("node:fs");
const found = [];
const walk = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const place = folder + (folder === "/" ? "" : "/") + entry.name;
    if (["/proc", "/dev", "/tmp"].includes(place) || entry.isSymbolicLink()) continue;
    try { fs.accessSync(place, fs.constants.W_OK); found.push(place); } catch {}
    if (entry.isDirectory()) try { walk(place); } catch {}
  }
};
walk("/");
fs.writeFileSync("/tmp/written", "");
console.log(JSON.stringify(found));
`;

needs(
  "release tools",
  "minio",
  "nats-server",
  "terraform",
)("the services in containers", () => {
  const image = useImage();
  const fixture = useStack(() =>
    startProcesses({ blobs: "minio", process: containerProcess(image) }),
  );

  test.each(serviceNames)("%s is process 1, without rights", (name) => {
    const { processes } = fixture().stack;
    const status = readFileSync(`/proc/${processes[name].pid()}/status`, "utf8");
    const field = (title: string) => new RegExp(`^${title}:\\s+(.*)$`, "m").exec(status)?.[1];
    expect(field("NSpid")?.split(/\s+/).at(-1)).toBe("1");
    expect(field("Uid")).toBe("65532\t65532\t65532\t65532");
    expect(field("Gid")).toBe("65532\t65532\t65532\t65532");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
      expect(field(set), set).toBe("0000000000000000");
    }
    expect(field("NoNewPrivs")).toBe("1");
  });

  test("the life of a workspace succeeds", async () => {
    await smoke(fixture());
  });

  test("the real command line applies, changes and destroys", async () => {
    const { organization, owner, url } = fixture();
    await using folder = await workingFolder({
      url,
      token: owner.token,
      configuration: `${cloud(organization, 'name = "in-containers"')}\n${example}`,
    });
    await folder.succeed("init");
    await folder.succeed("apply", "-auto-approve");
    const outputs = JSON.parse((await folder.succeed("output", "-json")).stdout);
    const values = Object.entries<{ value: unknown }>(outputs).map(([name, { value }]) => [
      name,
      value,
    ]);
    expect(Object.fromEntries(values)).toEqual(exampleOutputs);
    await folder.succeed("apply", "-auto-approve", "-var", "greeting=changed");
    expect((await folder.succeed("output", "-raw", "text")).stdout).toBe("changed");
    await folder.succeed("destroy", "-auto-approve");
  });

  test("SIGTERM to process 1 during an upload loses nothing", async () => {
    const { stack, owner } = fixture();
    const { id, state } = await uploadDuringStop(fixture(), stack.processes.state, 1_000_000);
    const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
    const kept = await download(
      current.body.data.attributes["hosted-state-download-url"],
      owner.token,
    );
    expect(kept.bytes.equals(state.bytes)).toBe(true);
  });

  test.each([
    ["the user of the image", undefined],
    ["any other user", { uid: 1_000_680_000, gid: 0 }],
  ])("nothing is writable outside of /tmp for %s", async (_, user) => {
    await using container = await image().start({
      entrypoint: ["/usr/bin/node", "-e"],
      args: [writablePlaces],
      ...(user && { user }),
    });
    expect(await container.exit, container.output()).toBe(0);
    expect(JSON.parse(container.output())).toEqual([]);
  });

  test("a command runs as any user", async () => {
    const { environment } = fixture().stack.processes.state;
    await using container = await image().start({
      args: ["migrate", "state"],
      env: environment,
      user: { uid: 1_000_680_000, gid: 0 },
    });
    expect(await container.exit, container.output()).toBe(0);
    expect(container.output()).toContain("nothing to apply");
  });

  test("the compile cache of the image is used", async () => {
    const { environment } = fixture().stack.processes.gateway;
    const started = async (more: Record<string, string>) => {
      await fixture().stack.processes.gateway.kill();
      const begun = performance.now();
      await using container = await image().start({
        args: ["gateway"],
        env: { ...environment, ...more },
        files: filesOf(environment),
      });
      await readiness("gateway", environment);
      const ms = Math.round(performance.now() - begun);
      await container.signal("KILL");
      return { ms, output: container.output() };
    };
    const without = await started({ NODE_DISABLE_COMPILE_CACHE: "1" });
    const cached = await started({ NODE_DEBUG_NATIVE: "COMPILE_CACHE" });
    console.log(`start to ready: ${cached.ms} ms with the compile cache, ${without.ms} ms without`);
    expect(cached.output).toMatch(/reading cache from .*\/app\/\.compile-cache.*success/);
    await fixture().stack.processes.gateway.start();
  });
});
