import { recordCommand } from "@statehouse/audit";
import { isNotFound } from "@statehouse/errors";
import { readConfig, StartError } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { configSchema } from "../config.ts";
import { openOperatorApp, operator } from "../operator-command.ts";
import { createUserToken } from "../token/user-app.ts";
import { createUser, getUserByName, setUserEmail, setUserRights } from "./app.ts";

/** The lines of the help that describe the actions. */
export const userActions = `Actions:
  create         creates the user with this e-mail address
  set-email      sets the user's e-mail address and marks it as confirmed
  token          creates a token of the user and prints its secret, which cannot be printed again
  suspend        suspends the user, whose tokens then fail at once
  unsuspend      ends the suspension
  grant-admin    makes the user an administrator of the installation
  revoke-admin   makes the user an ordinary user`;

const usage = `usage: statehouse user <action> <username> [e-mail]\n\n${userActions}`;

/** The settings of the command. */
export const userSettings = configSchema.pick({ DATABASE_URL: true, TOKEN_MAX_DAYS: true });

const actions: Record<string, (app: App, username: string, email: string) => Promise<string>> = {
  async create(app, username, email) {
    const { id } = await createUser(app, operator, { username, email, administrator: false });
    return `created ${id}`;
  },
  async "set-email"(app, username, email) {
    const { id } = await userNamed(app, username);
    await setUserEmail(app, operator, { id, email });
    return `changed ${id}`;
  },
  async token(app, username) {
    const { id: userId } = await userNamed(app, username);
    const request = { userId, description: "created by the operator", expiredAt: undefined };
    return (await createUserToken(app, operator, request)).secret;
  },
  suspend: async (app, username) => changed(app, username, { suspended: true }),
  unsuspend: async (app, username) => changed(app, username, { suspended: false }),
  "grant-admin": async (app, username) => changed(app, username, { administrator: true }),
  "revoke-admin": async (app, username) => changed(app, username, { administrator: false }),
};

async function userNamed(app: App, username: string) {
  try {
    return await getUserByName(app, username);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new StartError(
      `There is no user '${username}'. FIRST_ADMIN_USERNAME names the first administrator; 'statehouse user create' creates other users.`,
    );
  }
}

async function changed(
  app: App,
  username: string,
  to: { suspended: boolean } | { administrator: boolean },
): Promise<string> {
  const { id } = await userNamed(app, username);
  await setUserRights(app, operator, { id, ...to });
  return `changed ${id}`;
}

/**
 * Runs one of the actions of `userActions`. The command uses the database directly and therefore works even if no
 * administrator can sign in.
 */
export async function changeUser(
  [name = "", username = "", email = ""]: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || username === "") throw new StartError(usage);
  const { DATABASE_URL: url, TOKEN_MAX_DAYS: maxTokenDays } = readConfig(userSettings);
  await using opened = await openOperatorApp(url, maxTokenDays);
  const { app, database } = opened;
  const command = { name: `user.${name}`, database, service: "access" };
  print(await recordCommand(command, () => action(app, username, email)));
}
