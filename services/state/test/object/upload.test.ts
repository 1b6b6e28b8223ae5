import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { proves } from "@statehouse/testing/proves";
import { request } from "undici";
import { expect, it } from "vitest";
import type { UploadClaims, UploadTokens } from "../../state-version/upload-token-domain.ts";
import { errorOf, IDLE_MS, LIMIT, onEveryStore } from "../running-objects.ts";

onEveryStore("uploads", (objects) => {
  it("accepts the same bytes again without storing them, and refuses others", async () => {
    const content = randomBytes(100_000);
    const version = await objects().pending(content);
    for (let time = 0; time < 3; time++) {
      expect((await objects().send(version.raw, "PUT", { body: content })).status).toBe(200);
    }
    for (const other of [randomBytes(100_000), randomBytes(5)]) {
      expect(errorOf(await objects().send(version.raw, "PUT", { body: other })).status).toBe(409);
    }
    expect(await objects().keysOf(version.id)).toHaveLength(1);
    const repeated = "upload repeated; content already stored";
    expect(objects().logged(version.id)).toEqual(["upload stored", repeated, repeated]);
  });

  it("refuses bytes with another md5, stores nothing, and accepts the right bytes afterwards", async () => {
    const content = randomBytes(200_000);
    const version = await objects().pending(content);
    const refused = errorOf(
      await objects().send(version.raw, "PUT", { body: randomBytes(200_000) }),
    );
    expect(refused).toMatchObject({ status: 409, detail: expect.stringContaining("md5") });
    expect(await objects().keysOf(version.id)).toEqual([]);
    expect(await objects().statusOf(version.id)).toBe("pending");
    expect((await objects().send(version.raw, "PUT", { body: content })).status).toBe(200);
  });

  it("stores nothing of an interrupted upload, whose URL remains usable", async () => {
    const content = randomBytes(300_000);
    const version = await objects().pending(content);
    const socket = objects().rawPut(version.raw, content.length);
    socket.write(content.subarray(0, 200_000));
    await pause(50);
    socket.destroy();
    await pause(50);
    expect(await objects().statusOf(version.id)).toBe("pending");
    expect(await objects().keysOf(version.id)).toEqual([]);
    expect((await objects().send(version.raw, "PUT", { body: content })).status).toBe(200);
  });

  it("returns 400 if a body ends before its announced length", async () => {
    const content = randomBytes(1000);
    const version = await objects().pending(content);
    const socket = objects().rawPut(version.raw, content.length + 1);
    socket.end(content);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /);
    expect(await objects().keysOf(version.id)).toEqual([]);
    expect(await objects().statusOf(version.id)).toBe("pending");
  });

  it("disconnects an uploader that stalls", async () => {
    const version = await objects().pending("never comes");
    const socket = objects().rawPut(version.raw, 100_000);
    socket.write("something");
    // Ends only when the server closes the connection.
    await text(socket).catch(() => {});
    expect(await objects().keysOf(version.id)).toEqual([]);
  });

  it("accepts a slow uploader that makes progress", async () => {
    const content = randomBytes(40);
    const version = await objects().pending(content);
    const socket = objects().rawPut(version.raw, content.length, "Connection: close\r\n");
    // The pieces take longer than IDLE_MS together, and each pause is far below it also on a busy machine.
    for (let sent = 0; sent < content.length; sent += 2) {
      socket.write(content.subarray(sent, sent + 2));
      await pause(IDLE_MS / 16);
    }
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /);
    expect(await objects().statusOf(version.id)).toBe("finalized");
  });

  it("refuses an upload before its bytes are sent", async () => {
    const content = randomBytes(5000);
    const version = await objects().pending(content);
    const taken = objects().rawPut(
      version.raw,
      content.length,
      "Expect: 100-continue\r\nConnection: close\r\n",
    );
    taken.once("data", () => taken.write(content));
    expect(await text(taken)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
    const refused = objects().rawPut(version.raw, LIMIT + 1, "Expect: 100-continue\r\n");
    expect(await text(refused)).toMatch(/^HTTP\/1.1 413 /);
  });

  it("accepts one of two racing uploads and responds to both", async () => {
    const content = randomBytes(200_000);
    const version = await objects().pending(content);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => objects().send(version.raw, "PUT", { body: content })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await objects().statusOf(version.id)).toBe("finalized");
  });

  it("refuses uploads without length, without content, and above the limit", async () => {
    proves("Upload/without length 411, without");
    const { raw } = await objects().pending("x");
    const chunked = await request(objects().base + raw, {
      method: "PUT",
      body: Readable.from(["a piece"]),
    });
    expect(chunked.statusCode).toBe(411);
    await chunked.body.dump();
    expect(errorOf(await objects().send(raw, "PUT", { body: Buffer.alloc(0) })).status).toBe(400);
    const socket = objects().rawPut(raw, LIMIT + 1);
    socket.write(randomBytes(100_000));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toContain('"status":"413"');
  });

  it("refuses altered, foreign and expired upload URLs", async () => {
    const version = await objects().pending("x");
    const token = version.raw.slice("/v1/object/".length);
    const altered = token.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const expired = objects().state.app.uploadTokens.sign({
      ...claimsOf(objects().state.app.uploadTokens, token),
      expiresAt: new Date(Date.now() - 1),
    });
    const unknown = objects().state.app.uploadTokens.sign({
      ...claimsOf(objects().state.app.uploadTokens, token),
      versionId: "sv-unknown",
    });
    const elsewhere = objects().state.app.uploadTokens.sign({
      ...claimsOf(objects().state.app.uploadTokens, token),
      workspaceId: "ws-other",
    });
    for (const path of [altered, expired, unknown, elsewhere, "x", "..", "%00"]) {
      const answer = await objects().send(`/v1/object/${path}`, "PUT", { body: "x" });
      expect(answer.status, path).toBe(404);
    }
    expect(await objects().statusOf(version.id)).toBe("pending");
  });

  it("refuses content for a discarded version", async () => {
    proves("Upload/never onto a discarded or deleted version");
    const workspaceId = objects().state.lockedWorkspace();
    const version = await objects().pending("x", workspaceId);
    await objects().state.workspaceState.sealLock({
      workspaceId,
      epoch: 10n,
      discardPending: true,
    });
    expect(errorOf(await objects().send(version.raw, "PUT", { body: "x" })).status).toBe(409);
  });
});

function claimsOf(tokens: UploadTokens, token: string): UploadClaims {
  const claims = tokens.verify(token, new Date());
  if (!claims) throw new Error("the token is not valid");
  return claims;
}
