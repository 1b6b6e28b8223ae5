import { newId } from "@statehouse/postgres/ids";
import {
  createUploadTokens,
  type UploadClaims,
} from "@statehouse/state/state-version/upload-token-domain";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document, upload } from "../stack/http.ts";
import { announcement, stateFile, writeState } from "../stack/state.ts";
import { newLockedWorkspace, newWorkspace, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();

/** Creates a pending version; returns it with the claims of its two upload URLs. */
async function pending() {
  const { owner } = fixture();
  const { id: workspaceId } = await newLockedWorkspace(fixture());
  const state = stateFile();
  const { body } = await owner.api.post(
    `/workspaces/${workspaceId}/state-versions`,
    announcement(state),
  );
  const { attributes, id: versionId } = body.data;
  const raw: string = attributes["hosted-state-upload-url"];
  const json: string = attributes["hosted-json-state-upload-url"];
  const status = async () =>
    (await owner.api.get(`/state-versions/${versionId}`)).body.data.attributes.status;
  return { workspaceId, versionId, state, raw, json, status };
}

/** Returns an upload URL whose token has the form of the state service's tokens and is signed with these keys. */
function signedBy(keys: string, claims: Partial<UploadClaims>) {
  const signing = createUploadTokens(keys);
  const expiresAt = new Date(Date.now() + 60_000);
  const whole = {
    workspaceId: "ws-0",
    versionId: "sv-0",
    kind: "raw",
    expiresAt,
    ...claims,
  } as const;
  return `${fixture().url}/v1/object/${signing.sign(whole)}`;
}

const ownKeys = () => fixture().stack.environments.state.UPLOAD_TOKEN_KEYS ?? "";

describe("an upload URL", () => {
  test("that is altered, foreign or expired is treated like an unknown one", async () => {
    proves("Isolation/upload and download URLs");
    const { workspaceId, versionId, state, raw, status } = await pending();
    const claims = { workspaceId, versionId } as Pick<UploadClaims, "workspaceId" | "versionId">;
    const keyId = ownKeys().split(":", 1)[0] ?? "";
    const outsider = `${keyId}:${Buffer.alloc(32, 7).toString("base64")}`;
    const never = await upload(`${fixture().url}/v1/object/x.y.z`, state.bytes);
    expect(never.status).toBe(404);
    for (const [what, url] of Object.entries({
      altered: `${raw.slice(0, -3)}AAA`,
      longer: `${raw}A`,
      "under another key": signedBy(outsider, claims),
      expired: signedBy(ownKeys(), { ...claims, expiresAt: new Date(Date.now() - 1000) }),
    })) {
      const { status: answered, body } = await upload(url, state.bytes);
      expect([answered, body], what).toEqual([never.status, never.body]);
    }
    expect(await status()).toBe("pending");
    const good = signedBy(ownKeys(), claims);
    expect((await upload(good, state.bytes)).status).toBe(200);
  });

  test("accepts bytes of its own version and workspace only", async () => {
    proves("Isolation/upload and download URLs");
    const [one, other] = [await pending(), await pending()];
    expect((await upload(one.raw, other.state.bytes)).status).toBe(409);
    const mixed = signedBy(ownKeys(), {
      workspaceId: other.workspaceId,
      versionId: one.versionId,
    });
    const absent = signedBy(ownKeys(), {
      workspaceId: other.workspaceId,
      versionId: newId("sv") as `sv-${string}`,
    });
    const answers = [await upload(mixed, one.state.bytes), await upload(absent, one.state.bytes)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expect([await one.status(), await other.status()]).toEqual(["pending", "pending"]);
  });

  test("changes nothing when it is used again, by any caller and with any token", async () => {
    proves("Isolation/upload and download URLs");
    const { owner, outsider } = fixture();
    const { workspaceId, versionId, state, raw } = await pending();
    expect((await upload(raw, state.bytes)).status).toBe(200);
    await owner.api.post(`/workspaces/${workspaceId}/actions/unlock`);
    const next = await writeState(
      owner.api,
      workspaceId,
      stateFile({ serial: 2, lineage: state.lineage }),
    );
    const authorization = `Bearer ${outsider.token}`;
    expect((await upload(raw, state.bytes, { authorization })).status).toBe(200);
    expect((await upload(raw, stateFile({ serial: 9 }).bytes)).status).toBe(409);
    const current = await owner.api.get(`/workspaces/${workspaceId}/current-state-version`);
    expect(current.body.data.id).toBe(next.body.data.id);
    const first = await owner.api.get(`/state-versions/${versionId}`);
    expect(first.body.data.attributes.md5).toBe(state.md5);
  });

  test("of a superseded version or a deleted workspace stores nothing", async () => {
    const { owner } = fixture();
    const broken = await pending();
    await owner.api.post(`/workspaces/${broken.workspaceId}/actions/force-unlock`);
    expect((await upload(broken.raw, broken.state.bytes)).status).toBe(409);
    expect(await broken.status()).toBe("discarded");
    const gone = await pending();
    await owner.api.delete(`/workspaces/${gone.workspaceId}`);
    expect((await upload(gone.raw, gone.state.bytes)).status).toBe(404);
  });

  test("is not a download URL, and its token is not a bearer token", async () => {
    const { owner, anonymous } = fixture();
    const { state, raw } = await pending();
    await upload(raw, state.bytes);
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const { status } = await owner.api.send(method, raw);
      expect(status, method).toBe(405);
    }
    const [, token = ""] = raw.split("/v1/object/");
    const posing = { authorization: `Bearer ${token}` };
    const answer = await anonymous.send("GET", "/account/details", undefined, posing);
    expect(answer.status).toBe(401);
  });
});

describe("a download URL", () => {
  async function written() {
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const { body } = await writeState(owner.api, id, stateFile(), {
      "json-state": Buffer.from("{}").toString("base64"),
    });
    const { attributes } = body.data;
    return {
      raw: attributes["hosted-state-download-url"] as string,
      json: attributes["hosted-json-state-download-url"] as string,
    };
  }

  test("of another organization is treated like an unknown one for every foreign credential", async () => {
    proves("Isolation/upload and download URLs");
    const { outsider, url, anonymous } = fixture();
    const urls = await written();
    const made = await outsider.api.post(
      `/organizations/${outsider.organization}/authentication-token`,
      document("authentication-tokens", {}),
    );
    const others = [outsider.api, recordedApi(url, made.body.data.attributes.token), anonymous];
    for (const address of [urls.raw, urls.json]) {
      const absent = address.replace(/sv-\w{16}/, newId("sv"));
      for (const api of others) {
        for (const method of ["GET", "HEAD"]) {
          const [one, other] = [await api.send(method, address), await api.send(method, absent)];
          expect([one.status, one.body], `${method} ${address}`).toEqual([
            other.status,
            other.body,
          ]);
          expect(one.status).toBe(api === anonymous ? 401 : 404);
        }
      }
    }
  });

  test("accepts its token in the header only", async () => {
    const { owner, anonymous } = fixture();
    const { raw } = await written();
    for (const query of [`token=${owner.token}`, `access_token=${owner.token}`]) {
      expect((await anonymous.get(`${raw}?${query}`)).status).toBe(401);
    }
    expect(
      (await anonymous.send("GET", raw, undefined, { cookie: `token=${owner.token}` })).status,
    ).toBe(401);
    expect((await owner.api.get(`${raw}?whatever=1`)).status).toBe(200);
  });
});
