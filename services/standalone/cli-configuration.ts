/**
 * The host name in configurations of the examples. It is never resolved: the CLI configuration file contains the
 * address.
 */
export const cliHost = "statehouse.local";

/** An installation, and a token with which it is used. */
export interface CliAccess {
  url: string;
  token: string;
}

/**
 * Returns a configuration file for the `terraform` and `tofu` programs. They require HTTPS for discovery; a `host`
 * block replaces discovery, so plain HTTP works on one machine. `origin` is the sentence in its first line.
 */
export function cliConfiguration({ url, token, origin }: CliAccess & { origin: string }): string {
  const api = `${url}/api/v2/`;
  return [
    `# ${origin}`,
    `host "${cliHost}" {`,
    "  services = {",
    `    "tfe.v2"     = "${api}"`,
    `    "tfe.v2.1"   = "${api}"`,
    `    "tfe.v2.2"   = "${api}"`,
    `    "modules.v1" = "${url}/api/registry/v1/modules/"`,
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
