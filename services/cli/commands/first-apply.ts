import { parseArgs } from "node:util";
import { StartError } from "@statehouse/runtime";
import { type CliAccess, cliConfiguration } from "@statehouse/standalone/cli-configuration";
import { makeOrganization } from "@statehouse/standalone/make-organization";

type Print = (line: string) => void;

export const accessHelp = [
  "  --url URL      the address of the API, for example http://127.0.0.1:8080",
  "  --token TOKEN  a token of a user, for example one of statehouse user token",
];

/** Prints the configuration file of terraform and tofu for an installation. Throws `StartError`. */
export async function printCliConfiguration(args: readonly string[], print: Print): Promise<void> {
  const { access, organization, positionals } = parsed(args);
  if (positionals.length > 0) throw new StartError("The command cli-config has only options.");
  if (organization !== undefined) await ensureOrganization(access, organization);
  const origin = "Written by `statehouse cli-config`.";
  print(cliConfiguration({ ...access, origin }).trimEnd());
}

/** Creates an organization that belongs to the token's user. Throws `StartError`. */
export async function runOrganization(args: readonly string[], print: Print): Promise<void> {
  const { access, positionals } = parsed(args);
  const [action, name = "", ...rest] = positionals;
  if (action !== "create" || name === "" || rest.length > 0) {
    throw new StartError("usage: statehouse organization create <name> --url=URL --token=TOKEN");
  }
  print(
    (await ensureOrganization(access, name)) === "found" ? `${name} exists` : `created ${name}`,
  );
}

async function ensureOrganization(access: CliAccess, name: string): Promise<"found" | "made"> {
  const outcome = await makeOrganization(access, { name }).catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    throw new StartError(`${access.url} does not respond.`, { cause: error });
  });
  if (outcome === "refused") throw new StartError("The token is not valid.");
  return outcome;
}

function parsed(args: readonly string[]) {
  const options = {
    url: { type: "string" },
    token: { type: "string" },
    organization: { type: "string" },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const { url, token, organization } = values;
  if (!url || !/^https?:/.test(url))
    throw new StartError("--url must be an address of HTTP or HTTPS.");
  if (!token || !/^[\w.-]+$/.test(token)) throw new StartError("--token must be a token.");
  return { access: { url: url.replace(/\/+$/, ""), token }, organization, positionals };
}
