import { mentions, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { type Answer, api, document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { eventually, healAll } from "./fixture.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({}));

/** Expects a 503, which clients retry: the response of the other service was lost. */
const expectUnanswered = (answer: Answer | undefined) => expect(answer?.status).toBe(503);

describe("kill -9 of workspaces while it creates an organization", () => {
  const create = (name: string, settings: Record<string, unknown> = {}) =>
    fixture().owner.api.post(
      "/organizations",
      document("organizations", { name, email: "owner@example.com", ...settings }),
    );

  /**
   * Creates an organization and kills the workspaces service, either before the access service has received the call or
   * before the response of the access service has arrived.
   */
  async function crashDuringCreation(
    lost: "call to access" | "response of access",
    settings: Record<string, unknown> = {},
  ): Promise<string> {
    const { stack, proxies, rows } = fixture();
    const name = unusedName("org");
    // Holds back the creation event: otherwise the access service could complete the creation because of the event,
    // without the call.
    proxies.workspacesToNats.freeze();
    const held = proxies.workspacesToAccess.hold(
      lost === "call to access"
        ? { direction: "requests", when: mentions("org-") }
        : { direction: "answers", when: () => true, after: mentions("org-") },
    );
    const response = create(name, settings);
    await held;
    const [{ id } = { id: "" }] = await rows<{ id: string }>(
      "workspaces",
      "select id from organizations where name = $1",
      [name],
    );
    const known = () => rows("access", "select from organizations where id = $1", [id]);
    if (lost === "call to access") expect(await known()).toEqual([]);
    else await waitFor(async () => (await known()).length === 1);
    await stack.processes.workspaces.kill();
    expectUnanswered(await response);
    return name;
  }

  test.each(["call to access", "response of access"] as const)(
    "with its %s lost: the repeat completes the creation",
    async (lost) => {
      const { owner, proxies, stack } = fixture();
      const name = await crashDuringCreation(lost);
      proxies.workspacesToAccess.release();
      await stack.processes.workspaces.start();
      await eventually(201, () => create(name));
      expect((await owner.api.get(`/organizations/${name}`)).status).toBe(200);
      const second = await create(name);
      expect(second.status).toBe(422);
    },
  );

  test("without a repeated request, the event of the creation completes it", async () => {
    const { owner } = fixture();
    const name = await crashDuringCreation("call to access");
    await healAll(fixture());
    await waitFor(async () => (await owner.api.get(`/organizations/${name}`)).status === 200);
  });

  test("without a bus: reconciliation completes the creation", async () => {
    const { owner, proxies, stack, rows } = fixture();
    const name = await crashDuringCreation("response of access");
    await rows("workspaces", "update organizations set retry_at = now() where name = $1", [name]);
    proxies.workspacesToAccess.release();
    await stack.processes.workspaces.start();
    await waitFor(async () => (await owner.api.get(`/organizations/${name}`)).status === 200);
  });

  test("with user tokens switched off: they are refused after the completion", async () => {
    proves("Credentials/user-tokens-enabled false");
    const { owner, proxies, stack, rows } = fixture();
    const name = await crashDuringCreation("response of access", { "user-tokens-enabled": false });
    await rows("workspaces", "update organizations set retry_at = now() where name = $1", [name]);
    proxies.workspacesToAccess.release();
    await stack.processes.workspaces.start();
    const seen: number[] = [];
    await waitFor(async () => {
      seen.push((await owner.api.get(`/organizations/${name}`)).status);
      return seen.at(-1) === 401;
    });
    expect(seen).not.toContain(200);
  });

  test("until the completion other users neither see it nor take its name", async () => {
    const { stack, proxies } = fixture();
    const name = await crashDuringCreation("call to access");
    const other = await stack.people.newUser();
    const outsider = api(stack.url, other.token);
    // The creation event stays in the outbox, because the connection to NATS is still frozen.
    proxies.workspacesToAccess.release();
    await stack.processes.workspaces.start();
    const taken = await eventually(422, () =>
      outsider.post(
        "/organizations",
        document("organizations", { name, email: "other@example.com" }),
      ),
    );
    expect(taken.body.errors[0].detail).toContain("taken");
    expect((await outsider.get(`/organizations/${name}`)).status).toBe(404);
  });
});

test("kill -9 of the access service between creating the owners and responding: a repeated request completes the creation", async () => {
  const { stack, proxies, owner, rows } = fixture();
  const name = unusedName("org");
  const create = () =>
    owner.api.post(
      "/organizations",
      document("organizations", { name, email: "owner@example.com" }),
    );
  const held = proxies.accessToDatabase.hold({
    direction: "answers",
    when: mentions("COMMIT\0"),
    after: mentions("org-"),
  });
  const response = create();
  await held;
  await stack.processes.access.kill();
  expectUnanswered(await response);
  await healAll(fixture());
  // The creation event may have completed the creation before the repeated request, which then returns 422.
  const repeated = await eventually(201, create).catch(() => undefined);
  if (!repeated) expect((await create()).status).toBe(422);
  expect((await owner.api.get(`/organizations/${name}`)).status).toBe(200);
  const teams = await rows(
    "access",
    `select from teams t join organizations o on o.id = t.organization_id
     where t.owners and o.id = $1`,
    [
      (
        await rows<{ id: string }>("workspaces", "select id from organizations where name = $1", [
          name,
        ])
      )[0]?.id,
    ],
  );
  expect(teams).toHaveLength(1);
});
