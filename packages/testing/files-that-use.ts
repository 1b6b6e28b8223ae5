import { globSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * Returns the test files, relative to `root`, that import one of `names` directly or through files that they import by
 * a relative path. `names` are the functions that start a local service. The run leaves these files out if the service
 * is missing, because a file that starts it while the file loads or in a hook cannot skip its tests.
 */
export function filesThatUse(
  names: readonly string[],
  root: string,
  patterns: readonly string[],
): string[] {
  const imported = new RegExp(`^import \\{[^}]*\\b(?:${names.join("|")})\\b[^}]*\\} from "`, "m");
  const known = new Map<string, boolean>();
  const uses = (file: string): boolean => {
    const answer = known.get(file);
    if (answer !== undefined) return answer;
    // The result is set before the imports are followed, because type imports of files form cycles.
    known.set(file, false);
    const source = readFileSync(file, "utf8");
    const result =
      imported.test(source) ||
      [...source.matchAll(/^(?:import|export|\}) ?(?:[^"\n]* )?from "(\.[^"]+)"/gm)].some(
        ([, from = ""]) => uses(path.resolve(path.dirname(file), from)),
      );
    known.set(file, result);
    return result;
  };
  return globSync([...patterns], { cwd: root })
    .filter((file) => !file.includes("node_modules") && uses(path.join(root, file)))
    .sort();
}
