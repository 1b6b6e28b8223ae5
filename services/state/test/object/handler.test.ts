import { randomBytes } from "node:crypto";
import { type MinioAddress, needs, ownMinio, waitFor } from "@statehouse/testing";
import { expect, it } from "vitest";
import { S3Store } from "../../object/s3-store.ts";
import { bearer, errorOf, onEveryStore, runObjects, silent } from "../running-objects.ts";
import { runState } from "../running-state.ts";
import { owner } from "../service-fakes.ts";

onEveryStore("objects", (objects) => {
  it("returns JSON errors for other methods and paths", async () => {
    const version = await objects().pending("x");
    const statuses = async (method: "GET" | "POST" | "DELETE" | "PUT", path: string) =>
      errorOf(await objects().send(path, method)).status;
    expect(await statuses("POST", version.raw)).toBe(405);
    expect(await statuses("GET", version.raw)).toBe(405);
    expect(await statuses("DELETE", `/v1/object/${version.id}`)).toBe(405);
    expect(await statuses("PUT", `/v1/object/${version.id}/json`)).toBe(405);
    for (const path of ["/", "/v1/object", "/v1/object/", `/v1/object/${version.id}/more`]) {
      expect(await statuses("GET", path)).toBe(404);
    }
  });
});

needs("minio")("objects while MinIO is down", () => {
  it("returns 503, and the upload succeeds with the same URL afterwards", {
    timeout: 60_000,
  }, async () => {
    await using own = new AsyncDisposableStack();
    const minio = own.use(await ownMinio());
    const address: MinioAddress = minio;
    await minio.stop();
    const store = own.use(new S3Store({ ...address, bucket: "statehouse" }, silent));
    const objects = own.use(await runObjects(own.use(await runState()), store));
    const content = randomBytes(100_000);
    const version = await objects.pending(content);
    await expect(objects.store.ready()).rejects.toMatchObject({ kind: "unavailable" });
    expect(errorOf(await objects.send(version.raw, "PUT", { body: content })).status).toBe(503);
    await minio.start();
    await waitFor(
      async () => (await objects.send(version.raw, "PUT", { body: content })).status === 200,
    );
    await minio.stop();
    const url = `/v1/object/${version.id}`;
    expect(errorOf(await objects.send(url, "GET", { headers: bearer(owner) })).status).toBe(503);
    await minio.start();
    expect((await objects.send(url, "GET", { headers: bearer(owner) })).bytes.equals(content)).toBe(
      true,
    );
  });
});
