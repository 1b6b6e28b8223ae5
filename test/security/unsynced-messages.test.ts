import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { needs, ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";

// Loss without an attack: the power fails after NATS has acknowledged an event, which then exists nowhere else.

needs("nats-server")("the NATS of npm start", () => {
  test("writes a message to the disk before it acknowledges it", async () => {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await temporaryFolder());
    stack.use(await ownNats({ configuration: `http_port: -1\nports_file_dir: "${folder}"` }));
    const [url] = await waitFor(async () => {
      const [file = ""] = await readdir(folder);
      const ports: { monitoring: string[] } = JSON.parse(
        await readFile(path.join(folder, file), "utf8"),
      );
      return ports.monitoring;
    });
    const answer = await fetch(`${url}/jsz`);
    expect(await answer.json()).toMatchObject({ config: { sync_always: true } });
  });
});
