import { expect, test } from "vitest";
import { commands, helpOf } from "../commands.ts";
import { statehouse } from "./statehouse.ts";

test.each(Object.entries(commands))(
  "%s --help describes the command and its settings",
  async (name, command) => {
    const help = await helpOf(name, command, ["--help"]);
    expect(help).toMatch(new RegExp(`^usage: statehouse ${name}`));
    // These commands work on a file or an address and read no settings.
    if (["keys", "organization", "cli-config"].includes(name)) return;
    expect(help).toContain("Settings come from the environment");
    expect(help).toMatch(/^ {2}[A-Z_]+ /m);
  },
);

test("the help of a command for one service lists the settings of that service", async () => {
  const { code, stdout } = await statehouse(["migrate", "access", "--help"], {});
  expect(code).toBe(0);
  expect(stdout).toContain("MIGRATE_DATABASE_URL");
  expect(stdout).toContain("FIRST_ADMIN_USERNAME");
  const state = await statehouse(["migrate", "state", "-h"], {});
  expect(state.stdout).not.toContain("FIRST_ADMIN_USERNAME");
});
