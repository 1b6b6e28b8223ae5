import { copyFile, cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { runProgram, temporaryFolder } from "@statehouse/testing";

const root = path.resolve(import.meta.dirname, "../..");
const demo = "helm/statehouse/examples/demo";

/** Returns the commands of the section "Try it" of the chart's README. */
async function commands(): Promise<string[]> {
  const readme = await readFile(path.join(root, "helm/statehouse/README.md"), "utf8");
  const [, lines] = /## Try it\n.*?```sh\n(.*?)```/s.exec(readme) ?? [];
  if (!lines) throw new Error("The README of the chart has no commands of the demo.");
  return lines.trim().split("\n");
}

/**
 * Runs the commands of the README in a copy of the files that they name, in which only the image is replaced, as a user
 * does. The last command is an apply of the real command line. Removes the namespace `statehouse` afterwards.
 */
export async function runDemo(image: string, print: (line: string) => void): Promise<void> {
  const [, repository = "", tag = ""] = /^(.+):([^:/]+)$/.exec(image) ?? [];
  await using folder = await temporaryFolder();
  const inFolder = (file: string) => path.join(folder.path, file);
  for (const copied of ["helm", "examples/first-apply"]) {
    await cp(path.join(root, copied), inFolder(copied), { recursive: true });
  }
  const replace = async (file: string, from: string, to: string) => {
    const text = await readFile(inFolder(file), "utf8");
    await writeFile(inFolder(file), text.replaceAll(from, to));
  };
  await replace(`${demo}/stores.yaml`, "registry.example.com/statehouse:0.1.0", image);
  const placeholder = "repository: registry.example.com/statehouse";
  await replace(`${demo}/values.yaml`, placeholder, `repository: ${repository}\n  tag: ${tag}`);
  // The commands change the current context.
  const kubeconfig = inFolder("kubeconfig");
  await copyFile(process.env.KUBECONFIG ?? "", kubeconfig);
  const options = {
    cwd: folder.path,
    env: {
      ...process.env,
      KUBECONFIG: kubeconfig,
      TF_INPUT: "0",
      TF_CLI_ARGS_apply: "-auto-approve",
    },
  };
  const lines = await commands();
  // The forwarded ports stay open until the shell exits.
  const script = ["set -e", "trap 'kill $(jobs -p) || true' EXIT", ...lines].join("\n");
  try {
    const { code, output } = await runProgram("bash", ["-c", script], options);
    if (code !== 0 || !output.includes("Apply complete!")) {
      const state = await runProgram("kubectl", ["get", "pods,jobs,events"], options);
      throw new Error(`The demo ended with ${code}:\n${output}\n${state.output}`);
    }
    print(`the ${lines.length} commands of the demo ended in an apply`);
  } finally {
    await runProgram(
      "kubectl",
      ["delete", "namespace", "statehouse", "--ignore-not-found"],
      options,
    );
  }
}
