import { readFileSync } from "node:fs";
import path from "node:path";
import { StartError } from "@statehouse/runtime";

/**
 * Returns the URL of a service's database in the running `npm start` that uses this data folder. Throws `StartError`.
 */
export function databaseOf(
  dataDirectory: string,
  service: "access" | "workspaces" | "state",
): string {
  const folder = path.join(dataDirectory, "postgres");
  const read = (file: string) => {
    try {
      return readFileSync(path.join(folder, file), "utf8");
    } catch {
      throw new StartError(
        `No npm start runs on the data folder ${dataDirectory}: start it first, or set DATABASE_URL.`,
      );
    }
  };
  const password = read("password").trim();
  // PostgreSQL writes its port to this file. The port changes at each start.
  const port = read(path.join("cluster", "postmaster.pid")).split("\n")[3];
  return `postgresql://statehouse:${password}@127.0.0.1:${port}/statehouse_${service}`;
}
