import { existsSync } from "node:fs";
import path from "node:path";
import { needs, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloud, compatFixture, type Fixture, remote } from "./fixture.ts";

/** A configuration whose apply runs until the file `release` exists in its folder. */
const slow = `
variable "wait" {
  type    = bool
  default = true
}
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "touch started; while \${var.wait} && [ ! -f release ]; do sleep 0.1; done"
  }
}
`;

needs("terraform")("two command lines at once", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await compatFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  describe.each([
    ["cloud", cloud],
    ["remote", remote],
  ] as const)("with the %s block", (kind, block) => {
    test("a second lock is refused, or succeeds after waiting with -lock-timeout", async () => {
      proves("Command line/locks");
      const configuration = block(fixture.organization, `name = "lock-${kind}"`);
      const first = await fixture.folder(configuration, slow);
      const second = await fixture.folder(configuration, slow);
      await first.succeed("init");
      await second.succeed("init");
      const applying = first.succeed("apply", "-auto-approve");
      await waitFor(() => existsSync(path.join(first.path, "started")));

      const refused = await second.run("apply", "-auto-approve", "-var", "wait=false");
      expect(refused.code).not.toBe(0);
      expect(refused.output).toMatch(/lock/i);

      const { body } = await fixture.api.get(
        `/organizations/${fixture.organization}/workspaces/lock-${kind}`,
      );
      const again = await fixture.api.post(`/workspaces/${body.data.id}/actions/lock`, {
        reason: "me too",
      });
      expect(again.status).toBe(409);
      expect(again.body.errors[0].detail).toContain(fixture.owner.username);

      const waiting = second.succeed(
        "apply",
        "-auto-approve",
        "-lock-timeout=60s",
        "-var",
        "wait=false",
      );
      await first.write("release", "");
      await applying;
      expect((await waiting).output).toContain("Apply complete");
    });

    test("force-unlock releases a lock that was left behind", async () => {
      proves("Command line/locks");
      const name = `left-${kind}`;
      const folder = await fixture.folder(block(fixture.organization, `name = "${name}"`));
      await folder.succeed("init");
      const workspacePath = `/organizations/${fixture.organization}/workspaces/${name}`;
      const { body } = await fixture.api.get(workspacePath);
      const locked = await fixture.api.post(`/workspaces/${body.data.id}/actions/lock`, {
        reason: "left behind",
      });
      expect(locked.status).toBe(200);
      expect((await folder.run("apply", "-auto-approve")).code).not.toBe(0);
      await folder.succeed("force-unlock", "-force", `${fixture.organization}/${name}`);
      await folder.succeed("apply", "-auto-approve");
    });
  });
});
