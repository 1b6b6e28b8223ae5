import { connect } from "node:net";
import { waitFor } from "@statehouse/testing";
import { describe, expect, test } from "vitest";
import { halfSent } from "../stack/half-sent.ts";
import { type Stack, startProcesses, startStack } from "../stack/stack.ts";
import { announcement, expectStatus, md5Of } from "../stack/state.ts";
import { newLockedWorkspace, useStack } from "../system/fixture.ts";

const settings = {
  HEADERS_TIMEOUT: "1",
  BODY_TIMEOUT: "1",
  IDLE_TIMEOUT: "3",
  REQUEST_TIMEOUT: "2",
};

/** Sends `start`, and then single bytes until the server closes the connection. Resolves with what was received. */
function trickled(url: string, start: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ host: hostname, port: Number(port) });
    const timer = setInterval(() => start !== "" && socket.write("1"), 200);
    socket.on("connect", () => socket.write(start));
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(timer);
      resolve(received);
    });
  });
}

const put = (url: string, length: number) =>
  `PUT ${new URL(url).pathname} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe.each([
  ["one process", startStack],
  ["four processes", startProcesses],
])("in %s", (_, start) => {
  const fixture = useStack<Stack>(() => start({ settings }));
  const uploadUrl = async (content: Buffer) => {
    const { id } = await newLockedWorkspace(fixture());
    const announced = announcement({ serial: 1, lineage: id, md5: md5Of(content), bytes: content });
    const path = `/workspaces/${id}/state-versions`;
    // On a busy machine the request can take longer than REQUEST_TIMEOUT; a repeated one returns the same version.
    const { body } = await waitFor(() =>
      expectStatus(201, fixture().owner.api.post(path, announced)),
    );
    return String(body.data.attributes["hosted-state-upload-url"]);
  };

  test.each(["the API", "the state bytes"])(
    "%s closes silent connections and late headers",
    async (place) => {
      const url = place === "the API" ? fixture().url : await uploadUrl(Buffer.from("{}"));
      expect(await trickled(url, "")).toMatch(/^$|408/);
      expect(await trickled(url, "GET / HTTP/1.1\r\nX-Late: ")).toMatch(/^$|408/);
    },
  );

  test("a body of one byte at a time is refused with 408", async () => {
    const head = [
      `POST /api/v2/organizations/${fixture().organization}/workspaces HTTP/1.1`,
      "Host: a",
      `Authorization: Bearer ${fixture().owner.token}`,
      "Content-Length: 100000",
    ];
    const answer = await trickled(fixture().url, `${head.join("\r\n")}\r\n\r\n`);
    expect(answer).toContain("HTTP/1.1 408");
  });

  test("an upload of one byte at a time is closed, and one that progresses continues", async () => {
    const content = Buffer.from(JSON.stringify({ version: 4, serial: 1, filler: "x".repeat(2e5) }));
    const url = await uploadUrl(content);
    expect(await trickled(url, put(url, content.length))).not.toContain("200 OK");
    const upload = await halfSent("PUT", url, content);
    // Waits longer than BODY_TIMEOUT: the upload continues only because the half that has arrived extends the time
    // limit. The time is fixed, because no event shows the extension.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    upload.finish();
    expect(await upload.answer).toBe(200);
  });
});
