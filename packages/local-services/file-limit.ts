/**
 * The command with a limit on the size of each file that it writes, in bytes. Exceeding it fails like a full disk and
 * needs no privileges to set up. `exec` keeps the process id.
 */
export function withFileLimit(
  bytes: number | undefined,
  command: string,
  args: readonly string[],
): { command: string; args: string[] } {
  if (bytes === undefined) return { command, args: [...args] };
  const limited = 'ulimit -f "$1" && shift && exec "$@"';
  // In blocks of 512 bytes, as defined by POSIX.
  const blocks = String(Math.ceil(bytes / 512));
  return { command: "/bin/sh", args: ["-c", limited, "sh", blocks, command, ...args] };
}
