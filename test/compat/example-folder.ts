import { findCommandLine } from "@statehouse/local-services";
import { shareDependencies } from "@statehouse/testing";
import { type WorkingFolder, workingFolder } from "./command-line.ts";
import { cloud, example } from "./fixture.ts";

/** Creates a folder with the configuration `example` for a workspace. For programs that run outside Vitest. */
export function exampleFolder({
  url,
  token,
  organization,
  workspace,
}: {
  url: string;
  token: string;
  organization: string;
  workspace: string;
}): Promise<WorkingFolder> {
  shareDependencies({
    postgres: { url: "" },
    nats: { url: "" },
    minio: undefined,
    commandLine: findCommandLine(),
    program: "",
    missing: {},
  });
  const configuration = `${cloud(organization, `name = "${workspace}"`)}\n${example}`;
  return workingFolder({ url, token, configuration });
}
