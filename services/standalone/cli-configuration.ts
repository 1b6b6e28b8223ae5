/**
 * The host name in configurations of the examples. It is never resolved: the CLI configuration file contains the
 * address.
 */
export const cliHost = "statehouse.local";

/**
 * Returns a configuration file for the `terraform` and `tofu` programs. They require HTTPS for discovery; a `host`
 * block replaces discovery, so plain HTTP works on one machine.
 */
export function cliConfiguration({ url, token }: { url: string; token: string }): string {
  const api = `${url}/api/v2/`;
  return [
    "# Written by `npm start`; written again at each start.",
    `host "${cliHost}" {`,
    "  services = {",
    `    "tfe.v2"   = "${api}"`,
    `    "tfe.v2.1" = "${api}"`,
    `    "tfe.v2.2" = "${api}"`,
    "  }",
    "}",
    "",
    `credentials "${cliHost}" {`,
    `  token = "${token}"`,
    "}",
    "",
  ].join("\n");
}

/** Returns the token in a file that `cliConfiguration` wrote. */
export const tokenOf = (file: string): string | undefined =>
  /^ {2}token = "(.+)"$/m.exec(file)?.[1];
