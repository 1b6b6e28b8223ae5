import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { needs } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startStack } from "../stack/stack.ts";
import { compatFixture, type Fixture } from "./fixture.ts";

const run = promisify(execFile);
const source = path.join(import.meta.dirname, "go-tfe");
/** Time limit for downloading and compiling the client, which is necessary once on each machine. */
const BUILD_MS = 600_000;

needs("go")("the published Go client", () => {
  let fixture: Fixture;
  let program = "";
  const folder = mkdtempSync(path.join(tmpdir(), "go-tfe-"));
  beforeAll(async () => {
    program = path.join(folder, "walk");
    await run("go", ["build", "-o", program, "."], {
      cwd: source,
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local" },
    });
    fixture = await compatFixture();
  }, BUILD_MS);
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await fixture[Symbol.asyncDispose]();
  });

  test("walks every resource", async () => {
    proves("Public clients/go-tfe");
    const { stack, owner } = fixture;
    const { stdout } = await run(program, [], {
      env: { TFE_ADDRESS: stack.url, TFE_TOKEN: owner.token },
    });
    expect(stdout.trim().split("\n")).toEqual([
      "organization",
      "project",
      "workspace",
      "tags",
      "lock",
      "state",
      "outputs",
      "team",
      "team access",
      "team tokens",
      "user tokens",
      "organization token",
      "audit trail",
      "memberships",
      "ssh keys",
      "agent pools",
      "deletion",
    ]);
  });

  test("sets its pace by the limit of the server, so that nothing is refused", async () => {
    await using limited = await startStack({ settings: { RATE_LIMIT: "30" } });
    const { token } = await limited.people.newUser();
    const { stdout } = await run(program, ["burst"], {
      env: { TFE_ADDRESS: limited.url, TFE_TOKEN: token },
    });
    expect(stdout).toBe("0 refused\n");
  });
});
