import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type FollowedProcess, followProcess } from "@statehouse/testing";
import type { Page } from "puppeteer-core";

const columns = 100;

interface TerminalOptions {
  cwd: string;
  env: Record<string, string>;
}

/** A command that runs in a pseudo terminal. */
export interface TerminalCommand extends FollowedProcess {
  /** Types Ctrl-C. */
  interrupt(): void;
}

/** Runs a shell command in a pseudo terminal, because programs print colours to nothing else. Needs util-linux. */
export function inTerminal(command: string, { cwd, env }: TerminalOptions): TerminalCommand {
  const child = spawn(
    "script",
    ["--quiet", "--return", "--command", `stty cols ${columns} && ${command}`, "/dev/null"],
    { cwd, env: { ...env, TERM: "xterm-256color" } },
  );
  return { ...followProcess(child), interrupt: () => child.stdin.write("\x03") };
}

/** Returns the prompt with a command, as a shell shows it. */
export const prompt = (command: string): string =>
  `\x1b[1;32m$\x1b[0m \x1b[1m${command}\x1b[0m\r\n`;

const style = `
  body { margin: 0; background: #0d1117; }
  main { display: inline-block; padding: 4px 18px 14px; }
  h1 { margin: 10px 0 6px; color: #8b949e; font: 12px sans-serif; }
  .shell + h1 { margin-top: 16px; border-top: 1px solid #30363d; padding-top: 12px; }
`;

/** Runs in the page. Draws each recorded output in a terminal that has as many rows as the output. */
const draw = `(async (shells) => {
  for (const [title, output] of shells) {
    const heading = document.createElement("h1");
    heading.textContent = title;
    const shell = document.createElement("div");
    shell.className = "shell";
    document.querySelector("main").append(heading, shell);
    const terminal = new Terminal({
      cols: ${columns},
      rows: 500,
      fontFamily: "DejaVu Sans Mono, monospace",
      fontSize: 13,
      drawBoldTextInBrightColors: false,
      theme: { background: "#0d1117", foreground: "#e6edf3", green: "#3fb950" },
    });
    terminal.open(shell);
    await new Promise((resolve) => terminal.write(output.trimEnd() + "\\x1b[?25l", resolve));
    terminal.resize(${columns}, terminal.buffer.active.cursorY + 1);
  }
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
})`;

/** Writes a picture of recorded outputs, given with their titles, to `file`. */
export async function drawShells(
  page: Page,
  shells: readonly (readonly [title: string, output: string])[],
  file: string,
): Promise<void> {
  await page.setContent(`<style>${style}</style><main></main>`);
  await page.addStyleTag({
    path: fileURLToPath(import.meta.resolve("@xterm/xterm/css/xterm.css")),
  });
  await page.addScriptTag({ path: fileURLToPath(import.meta.resolve("@xterm/xterm")) });
  await page.evaluate(`${draw}(${JSON.stringify(shells)})`);
  const main = await page.$("main");
  await main?.screenshot({ path: file });
}
