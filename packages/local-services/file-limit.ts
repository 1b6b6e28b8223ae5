/**
 * Returns a command that runs the given command with a limit, in bytes, on the size of each file that it writes. A
 * write beyond the limit fails as on a full disk. Setting the limit needs no privileges, and `exec` keeps the process
 * id.
 */
export function withFileLimit(
  bytes: number | undefined,
  command: string,
  args: readonly string[],
): { command: string; args: string[] } {
  if (bytes === undefined) return { command, args: [...args] };
  const limited = 'ulimit -f "$1" && shift && exec "$@"';
  // The unit of `ulimit -f` is a block of 512 bytes, as POSIX defines it.
  const blocks = String(Math.ceil(bytes / 512));
  return { command: "/bin/sh", args: ["-c", limited, "sh", blocks, command, ...args] };
}
