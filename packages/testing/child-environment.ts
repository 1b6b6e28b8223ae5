/**
 * Returns the environment of a process that a test starts. It contains `settings` and those variables of this process
 * that a program needs to start, and to start fast.
 */
export function childEnvironment(settings: Record<string, string> = {}): Record<string, string> {
  const inherited = ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...settings };
}
