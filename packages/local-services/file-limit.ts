/**
 * The command under a limit on the size of each file it writes, in bytes, which fails as a full disk does and needs
 * no rights to set. `exec` keeps the process id.
 */
export function withFileLimit(
  bytes: number | undefined,
  command: string,
  args: readonly string[],
): { command: string; args: string[] } {
  if (bytes === undefined) return { command, args: [...args] };
  const limited = 'ulimit -f "$1" && shift && exec "$@"';
  // In blocks of 512 bytes, says POSIX.
  const blocks = String(Math.ceil(bytes / 512));
  return { command: "/bin/sh", args: ["-c", limited, "sh", blocks, command, ...args] };
}
