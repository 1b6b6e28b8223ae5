import path from "node:path";
import { AppError } from "@statehouse/errors";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import { StartError, writePrivately } from "@statehouse/runtime";
import { cliConfiguration, tokenOf } from "./cli-configuration.ts";
import type { StandaloneConfig } from "./config.ts";
import { readIfThere } from "./data-directory.ts";
import { makeOrganization } from "./make-organization.ts";

/** The values that a new user needs to begin. */
export interface Welcome {
  /** The path of the CLI configuration file. */
  cliFile: string;
  /** Set only if the token was created by this start. */
  token: string | undefined;
}

interface FirstStart {
  config: StandaloneConfig;
  /** Base address of the running installation. */
  url: string;
  access: Channel;
  /** The identity of standalone itself, which calls as the service `standalone`. */
  identity: CallOptions;
}

/**
 * Creates the first user, a token and the organization if they do not exist, and writes the CLI configuration file.
 * Also completes an interrupted first start.
 */
export async function firstStart({ config, url, access, identity }: FirstStart): Promise<Welcome> {
  const cliFile = path.join(config.DATA_DIR, "cli.tfrc");
  const kept = tokenOf((await readIfThere(cliFile)) ?? "");
  const token = kept ?? (await newToken(config, access, identity));
  const { ORGANIZATION: name, ADMIN_EMAIL: email } = config;
  if ((await makeOrganization({ url, token }, { name, email })) === "refused") {
    throw new StartError(
      "The token in the CLI configuration file is no longer valid; remove cli.tfrc from the data folder and start again to create a new one.",
    );
  }
  const origin = "Written by `npm start`; written again at each start.";
  const file = cliConfiguration({ url: config.PUBLIC_URL ?? url, token, origin });
  await writePrivately(cliFile, file);
  return { cliFile, token: kept === undefined ? token : undefined };
}

async function newToken(
  { ADMIN_USERNAME: username, ADMIN_EMAIL: email }: StandaloneConfig,
  access: Channel,
  identity: CallOptions,
): Promise<string> {
  const users = createClient(UserService, access, identity);
  const tokens = createClient(TokenService, access, identity);
  const { user } = await users
    .createUser({ username, email, administrator: true })
    .catch((error: unknown) => {
      // The user exists from an earlier start, and its CLI configuration file has been deleted since then.
      if (error instanceof AppError && error.kind === "invalid") {
        return users.getUserByName({ username });
      }
      throw error;
    });
  if (!user) throw new Error("the access service returned no user");
  const { secret } = await tokens.createUserToken({ userId: user.id, description: "npm start" });
  return secret;
}
