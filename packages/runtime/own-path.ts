import { statSync } from "node:fs";
import { StartError } from "./lifecycle.ts";

/** The permissions to write of the group and of all others. */
const WRITABLE_FOR_OTHERS = 0o022;

/**
 * Throws `StartError` if the file or folder belongs to another user, or if other users can write it: what it contains,
 * for example a key, could be theirs.
 */
export function requireOwn(path: string): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  const { uid, mode } = statSync(path);
  if (uid !== user) {
    throw new StartError(
      `${path} belongs to another user (${uid}); set DATA_DIR to a folder of your own, or start Statehouse as that user.`,
    );
  }
  if ((mode & WRITABLE_FOR_OTHERS) !== 0) {
    throw new StartError(
      `${path} can be written by other users; if its contents are your own, run chmod go-w on it.`,
    );
  }
}
