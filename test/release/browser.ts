import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";

/** Returns the path of Chromium, which the preparation of the release tests installs. */
export function browser(): string {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const found = folders.map((folder) => path.join(folder, "chromium")).find(existsSync);
  if (!found) throw new Error("chromium is missing.");
  return found;
}
