import { readConfig, runCommand, StartError } from "@statehouse/runtime";
import type { App } from "./app/app.ts";
import { createUser, getUserByName, setUserAdministrator, setUserSuspended } from "./app/user.ts";
import { createUserToken } from "./app/user-token.ts";
import { configSchema } from "./config.ts";
import { openOperatorApp, operator } from "./operator.ts";

const usage = `usage: node user-command.ts <action> <username> [e-mail]
  create         adds the user, with the e-mail address
  token          makes a token for the user and prints it, once
  suspend        makes its tokens fail at once
  unsuspend      lets it back in
  grant-admin    makes it an administrator of the installation
  revoke-admin   makes it an ordinary user
`;

const actions: Record<string, (app: App, username: string, email: string) => Promise<string>> = {
  async create(app, username, email) {
    const { id } = await createUser(app, operator, { username, email, administrator: false });
    return `created ${id}`;
  },
  async token(app, username) {
    const { id: userId } = await getUserByName(app, username);
    const wanted = { userId, description: "made by the operator", expiredAt: undefined };
    return (await createUserToken(app, operator, wanted)).secret;
  },
  suspend: async (app, username) => changed(app, username, { suspended: true }),
  unsuspend: async (app, username) => changed(app, username, { suspended: false }),
  "grant-admin": async (app, username) => changed(app, username, { administrator: true }),
  "revoke-admin": async (app, username) => changed(app, username, { administrator: false }),
};

async function changed(
  app: App,
  username: string,
  to: { suspended: boolean } | { administrator: boolean },
): Promise<string> {
  const { id } = await getUserByName(app, username);
  if ("suspended" in to) await setUserSuspended(app, operator, { id, ...to });
  else await setUserAdministrator(app, operator, { id, ...to });
  return `changed ${id}`;
}

// Creates, promotes and suspends users on the database itself: also when nobody can log in any more.
await runCommand("Changing a user", async (print) => {
  const [, , name = "", username = "", email = ""] = process.argv;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action || username === "") throw new StartError(usage);
  const needed = configSchema.pick({ DATABASE_URL: true, TOKEN_MAX_DAYS: true });
  const { DATABASE_URL: url, TOKEN_MAX_DAYS: maxTokenDays } = readConfig(needed);
  await using opened = await openOperatorApp(url, maxTokenDays);
  print(await action(opened.app, username, email));
});
