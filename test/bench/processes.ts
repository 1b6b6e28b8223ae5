import { readdirSync, readFileSync } from "node:fs";

/** Duration of a clock tick in µs: the files of /proc always count 100 ticks per second. */
const JIFFY_MICROS = 10_000;

/** A process whose CPU time is measured, with or without its children. */
export interface Counted {
  name: string;
  pid: number;
  withChildren?: boolean;
}

/** Returns the CPU time used so far in µs, keyed by name. The map is empty on systems without /proc. */
export function cpuMicros(counted: readonly Counted[]): Map<string, number> {
  const used = new Map<string, number>();
  for (const { name, pid, withChildren } of counted) {
    for (const one of withChildren ? [pid, ...childrenOf(pid)] : [pid]) {
      const stat = statOf(one);
      if (!stat) continue;
      // User and system time. With `withChildren`, the time of the root process includes that of its exited children.
      const jiffies = stat.slice(11, withChildren && one === pid ? 15 : 13).map(Number);
      const micros = jiffies.reduce((sum, part) => sum + part, 0) * JIFFY_MICROS;
      used.set(name, (used.get(name) ?? 0) + micros);
    }
  }
  return used;
}

/** Returns the resident memory in bytes; undefined on systems without /proc. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/**
 * Returns the resident memory of a process in bytes: before `work`, and the highest value while `work` runs, found by
 * sampling. Undefined on systems without /proc.
 */
export async function peakResidentBytes(
  pid: number,
  work: () => Promise<void>,
): Promise<{ before: number; peak: number } | undefined> {
  const before = residentBytes(pid);
  let peak = before ?? 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid) ?? 0);
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return before === undefined ? undefined : { before, peak };
}

/** Returns the fields of /proc/<pid>/stat after the name of the command, which can contain any characters. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((one) => one > 0 && Number(statOf(one)?.[1]) === pid);
  } catch {
    return [];
  }
}
