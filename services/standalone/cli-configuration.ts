/** The host name of the examples. It is never resolved: the CLI configuration file contains its address. */
export const cliHost = "statehouse.local";

/**
 * A configuration file for the `terraform` and `tofu` command lines. They require HTTPS for discovery; a `host` block
 * replaces discovery, so that plain HTTP on a laptop works.
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

/** The token in a file that `cliConfiguration` wrote. */
export const tokenOf = (file: string): string | undefined =>
  /^ {2}token = "(.+)"$/m.exec(file)?.[1];
