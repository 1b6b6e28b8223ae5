import { createHash } from "node:crypto";
import { cliHost } from "@statehouse/standalone/cli-configuration";
import { needs, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloud, compatFixture, exampleOutputs, type Fixture, remote } from "./fixture.ts";

const md5 = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");

needs("terraform", "minio")("the command line's whole life with a workspace", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await compatFixture({ blobs: "minio" });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const workspacePath = (name: string) =>
    `/organizations/${fixture.organization}/workspaces/${name}`;

  describe.each([
    ["cloud", cloud],
    ["remote", remote],
  ] as const)("with the %s block", (kind, block) => {
    const name = `life-${kind}`;

    test("init, plan, apply, output and destroy succeed", async () => {
      proves("Command line/init, plan, apply, output, destroy; state pull and push");
      const folder = await fixture.folder(block(fixture.organization, `name = "${name}"`));
      await folder.succeed("init");
      const made = await fixture.api.get(workspacePath(name));
      expect(made.status).toBe(200);
      expect(made.body.data.attributes["execution-mode"]).toBe("local");

      const plan = await folder.succeed("plan");
      expect(plan.output).toContain("Plan: 3 to add");
      const apply = await folder.succeed("apply", "-auto-approve");
      expect(apply.output).toContain("Apply complete! Resources: 3 added");

      const outputs = JSON.parse((await folder.succeed("output", "-json")).stdout);
      const values = Object.fromEntries(
        Object.entries<{ value: unknown }>(outputs).map(([key, { value }]) => [key, value]),
      );
      expect(values).toMatchObject(exampleOutputs);
      expect(outputs.secret.sensitive).toBe(true);

      const shown = await fixture.api.get(workspacePath(name));
      expect(shown.body.data.attributes.locked).toBe(false);
      // The counts are updated in the background, as in HCP Terraform.
      await waitFor(async () => {
        const { body } = await fixture.api.get(workspacePath(name));
        return body.data.attributes["resource-count"] === 3;
      });

      const again = await folder.succeed("plan");
      expect(again.output).toContain("No changes");
      const destroy = await folder.succeed("destroy", "-auto-approve");
      expect(destroy.output).toContain("Resources: 3 destroyed");
    });

    test("state pull returns the applied state, and state push stores the given one", async () => {
      proves("Command line/init, plan, apply, output, destroy; state pull and push");
      const folder = await fixture.folder(block(fixture.organization, `name = "${name}-bytes"`));
      await folder.succeed("init");
      await folder.succeed("apply", "-auto-approve");
      const { body } = await fixture.api.get(workspacePath(`${name}-bytes`));
      const current = async () => {
        const shown = await fixture.api.get(`/workspaces/${body.data.id}/current-state-version`);
        const { attributes } = shown.body.data;
        const response = await fetch(attributes["hosted-state-download-url"], {
          headers: { authorization: `Bearer ${fixture.owner.token}` },
        });
        return { attributes, bytes: Buffer.from(await response.arrayBuffer()) };
      };
      const applied = await current();
      // The attribute `md5` has the value that the CLI sent in the create request.
      expect(md5(applied.bytes)).toBe(applied.attributes.md5);
      const pulled = JSON.parse((await folder.succeed("state", "pull")).stdout);
      expect(pulled).toEqual(JSON.parse(applied.bytes.toString()));

      const next = { ...pulled, serial: pulled.serial + 1, outputs: {} };
      await folder.write("next.tfstate", JSON.stringify(next));
      await folder.succeed("state", "push", "next.tfstate");
      const pushed = await current();
      expect(md5(pushed.bytes)).toBe(pushed.attributes.md5);
      // The CLI increments the serial when it pushes a state.
      expect(JSON.parse(pushed.bytes.toString())).toEqual({
        ...next,
        serial: pushed.attributes.serial,
      });
    });
  });

  test("init creates the workspace in a named project, and creates the project if it is missing", async () => {
    proves("Command line/init with a project");
    const block = cloud(
      fixture.organization,
      'name = "in-project"\n      project = "Networking team"',
    );
    const folder = await fixture.folder(block);
    await folder.succeed("init");
    const made = await fixture.api.get(`${workspacePath("in-project")}?include=project`);
    expect(made.body.included[0].attributes.name).toBe("Networking team");
    const second = await fixture.folder(block.replace("in-project", "in-project-too"));
    await second.succeed("init");
    const beside = await fixture.api.get(workspacePath("in-project-too"));
    expect(beside.body.data.relationships.project.data.id).toBe(
      made.body.data.relationships.project.data.id,
    );
  });

  test("init of a configuration with a module of this host says that the module is not found", async () => {
    proves("Real clients/4");
    const source = `source = "${cliHost}/acme/network/aws"`;
    const folder = await fixture.folder("", `module "network" {\n  ${source}\n}\n`);
    const { code, output } = await folder.run("init");
    expect(code).not.toBe(0);
    expect(output).toContain("Module not found");
    expect(output.replaceAll(/[\s│]+/g, " ")).toMatch(/cannot be found in the module registry/);
  });

  test("workspaces can be listed, created, selected and deleted by tags", async () => {
    proves("Command line/workspaces by tags, by key and value, by prefix");
    const folder = await fixture.folder(cloud(fixture.organization, 'tags = ["app", "blue"]'));
    const init = await folder.runWith("tagged-one\n", "init");
    expect(init.code, init.output).toBe(0);
    await folder.succeed("workspace", "new", "tagged-two");
    const listed = (await folder.succeed("workspace", "list")).stdout;
    expect(listed).toContain("tagged-one");
    expect(listed).toContain("* tagged-two");
    const two = await fixture.api.get(workspacePath("tagged-two"));
    expect(two.body.data.attributes["tag-names"]).toEqual(["app", "blue"]);
    await folder.succeed("apply", "-auto-approve");
    await folder.succeed("workspace", "select", "tagged-one");
    expect((await folder.succeed("workspace", "show")).stdout.trim()).toBe("tagged-one");
    const refused = await folder.run("workspace", "delete", "tagged-two");
    expect(refused.code).not.toBe(0);
    await folder.succeed("workspace", "delete", "-force", "tagged-two");
    expect((await fixture.api.get(workspacePath("tagged-two"))).status).toBe(404);
    await folder.succeed("workspace", "new", "tagged-three");
    await folder.succeed("workspace", "select", "tagged-one");
    await folder.succeed("workspace", "delete", "tagged-three");
    expect((await fixture.api.get(workspacePath("tagged-three"))).status).toBe(404);
  });

  test("workspaces can be selected by key and value", async () => {
    proves("Command line/workspaces by tags, by key and value, by prefix");
    const folder = await fixture.folder(
      cloud(fixture.organization, 'tags = { team = "core", tier = "gold" }'),
    );
    const init = await folder.runWith("bound\n", "init");
    expect(init.code, init.output).toBe(0);
    const made = await fixture.api.get(workspacePath("bound"));
    const bindings = await fixture.api.get(`/workspaces/${made.body.data.id}/tag-bindings`);
    expect(bindings.body.data.map(({ attributes }: { attributes: object }) => attributes)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: "team", value: "core" }),
        expect.objectContaining({ key: "tier", value: "gold" }),
      ]),
    );
    await folder.succeed("plan");
  });

  test("workspaces can be selected by prefix with the remote backend", async () => {
    proves("Command line/workspaces by tags, by key and value, by prefix");
    const folder = await fixture.folder(remote(fixture.organization, 'prefix = "net-"'));
    await fixture.api.post(`/organizations/${fixture.organization}/workspaces`, {
      data: { type: "workspaces", attributes: { name: "net-west" } },
    });
    await folder.succeed("init");
    await folder.succeed("workspace", "new", "north");
    const listed = (await folder.succeed("workspace", "list")).stdout;
    expect(listed).toContain("west");
    expect(listed).toContain("* north");
    await folder.succeed("workspace", "select", "west");
    await folder.succeed("workspace", "delete", "north");
    expect((await fixture.api.get(workspacePath("net-north"))).status).toBe(404);
  });
});
