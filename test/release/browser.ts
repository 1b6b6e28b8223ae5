import { existsSync } from "node:fs";
import path from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** Returns the path of Chromium. Throws an error that says what to install. */
export function browser(): string {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const found = folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  const program = found.find((file) => existsSync(file));
  if (!program)
    throw new Error("chromium is missing: install it, on Debian with apt-get install chromium.");
  return program;
}
