import { readConfig } from "@statehouse/runtime";
import { configSchema } from "../config.ts";
import { openOperatorApp } from "../operator-command.ts";
import { ensureAdministrator } from "./app.ts";

/** The settings that name the first administrator. */
export const firstAdministratorSettings = configSchema.pick({
  FIRST_ADMIN_USERNAME: true,
  FIRST_ADMIN_EMAIL: true,
});

/**
 * Makes the user with the name FIRST_ADMIN_USERNAME an administrator if the installation has no active administrator.
 * If the user does not exist, creates the user with the e-mail address FIRST_ADMIN_EMAIL.
 */
export async function createFirstAdministrator(
  url: string,
  print: (line: string) => void,
): Promise<void> {
  const config = readConfig(firstAdministratorSettings);
  const { FIRST_ADMIN_USERNAME: username, FIRST_ADMIN_EMAIL: email } = config;
  if (username === undefined || email === undefined) return;
  await using opened = await openOperatorApp(url);
  const made = await ensureAdministrator(opened.app, { username, email });
  if (made) print(`${made.username} administers the installation`);
}
