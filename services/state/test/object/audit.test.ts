import { expect, it } from "vitest";
import { bearer, errorOf, onEveryStore } from "../running-objects.ts";
import { outsider, owner } from "../service-fakes.ts";

onEveryStore("the audit trail of downloads", (objects) => {
  const uploaded = async (content: string) => {
    const version = await objects().pending(content);
    await objects().send(version.raw, "PUT", { body: content });
    return version.id;
  };
  const recordsOf = (versionId: string) =>
    objects().state.database.query(
      `select actor_type, actor_id, address, outcome from audit_records
       where action = 'state-version.download' and resource_id = $1`,
      [versionId],
    );

  it("has one record of each download and none of other requests", async () => {
    const id = await uploaded("recorded");
    const path = `/v1/object/${id}`;
    expect((await objects().send(path, "HEAD", { headers: bearer(owner) })).status).toBe(200);
    expect(await recordsOf(id)).toEqual([]);
    const { headers } = await objects().send(path, "GET", { headers: bearer(owner) });
    const etag = String(headers.etag);
    const again = { ...bearer(owner), "if-none-match": etag };
    expect((await objects().send(path, "GET", { headers: again })).status).toBe(304);
    const record = {
      actor_type: "user",
      actor_id: owner.id,
      address: "127.0.0.1",
      outcome: "succeeded",
    };
    expect(await recordsOf(id)).toEqual([record]);
  });

  it("counts refused downloads and invalid tokens", async () => {
    const id = await uploaded("refused");
    for (let times = 0; times < 2; times++) {
      const answer = await objects().send(`/v1/object/${id}`, "GET", { headers: bearer(outsider) });
      expect(answer.status).toBe(404);
    }
    const invalid = { headers: { authorization: "Bearer invalid" } };
    expect((await objects().send(`/v1/object/${id}`, "GET", invalid)).status).toBe(401);
    await objects().state.app.audit.writeAttempts();
    const attempts = await objects().state.database.query(
      `select actor_id, action, address, sum(attempts)::int as attempts from audit_attempts
       where resource_id = $1 or action = 'authentication.sign-in' group by 1, 2, 3 order by 1`,
      [id],
    );
    expect(attempts).toEqual([
      { actor_id: "", action: "authentication.sign-in", address: "127.0.0.1", attempts: 1 },
      {
        actor_id: outsider.id,
        action: "state-version.download",
        address: "127.0.0.1",
        attempts: 2,
      },
    ]);
  });

  it("refuses a download that cannot be recorded, and sends none of its bytes", async () => {
    const id = await uploaded("not without a record");
    const { database } = objects().state;
    await database.query("alter table audit_records rename to unavailable");
    try {
      const answer = await objects().send(`/v1/object/${id}`, "GET", { headers: bearer(owner) });
      expect(answer.bytes.toString()).not.toContain("not without");
      expect(errorOf(answer)).toEqual({
        status: 503,
        detail: "The audit trail cannot be written at the moment; try again.",
      });
    } finally {
      await database.query("alter table unavailable rename to audit_records");
    }
    expect(
      (await objects().send(`/v1/object/${id}`, "GET", { headers: bearer(owner) })).status,
    ).toBe(200);
  });
});
