import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { StartError } from "@statehouse/runtime";

/** Parses the arguments of a command. Throws `StartError` with the problem and, if it is given, the usage text. */
export function parsedArguments<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage?: string,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new StartError(usage === undefined ? problem : `${problem}\n\n${usage}`);
  }
}
