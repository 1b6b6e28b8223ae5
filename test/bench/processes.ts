import { readdirSync, readFileSync } from "node:fs";

/** CPU time in µs, keyed by the program or threads that used it. */
export type CpuTimes = ReadonlyMap<string, number>;

/** The keys of `cpuOfStart`, in the order of a table's columns. */
export const PARTS = ["main thread", "other threads", "PostgreSQL", "NATS"] as const;

/**
 * Returns the CPU time that `npm start` has used so far. `main` is the process that serves the requests; PostgreSQL and
 * NATS are found among the descendants of `root`, the process of npm.
 */
export function cpuOfStart({ root, main }: { root: number; main: number }): CpuTimes {
  const micros = threadMicros(main);
  const mainThread = micros.get(main) ?? 0;
  const used = new Map<string, number>([
    ["main thread", mainThread],
    ["other threads", sum(micros.values()) - mainThread],
    ["PostgreSQL", 0],
    ["NATS", 0],
  ]);
  for (const pid of descendantsOf(root)) {
    const command = textOf(`/proc/${pid}/comm`);
    for (const [program, name] of programs) {
      if (command.startsWith(name))
        used.set(program, (used.get(program) ?? 0) + processMicros(pid));
    }
  }
  return used;
}

/** How the commands of the programs begin. Only a prefix, because the name of the NATS program contains its version. */
const programs = [
  ["PostgreSQL", "postgres"],
  ["NATS", "nats-server"],
] as const;

/** Duration of a clock tick in µs: the files of /proc always count 100 ticks per second. */
const TICK_MICROS = 10_000;

/**
 * Returns the CPU time of all threads of a process so far, and of its children that have exited, in µs; 0 on systems
 * without /proc.
 */
export function processMicros(pid: number): number {
  const [user = 0, system = 0] = statOf(pid).slice(13, 15).map(Number);
  return sum(threadMicros(pid).values()) + (user + system) * TICK_MICROS;
}

/** Returns the CPU time of a process and of its descendants so far, in µs. */
export const treeMicros = (pid: number): number =>
  sum([pid, ...descendantsOf(pid)].map(processMicros));

/** Returns the resident memory in bytes; NaN on systems without /proc. */
export const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1]) * 1024;

/**
 * Runs `work` and returns by how many bytes the resident memory of a process grew, at most, while it ran. The highest
 * value is found by sampling.
 */
export async function growthOf(pid: number, work: () => Promise<void>): Promise<number> {
  const before = residentBytes(pid);
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid));
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return peak - before;
}

/** Returns the processes that `pid` has started, and those that they have started. */
export function descendantsOf(pid: number): number[] {
  const children = Map.groupBy(numbersIn("/proc"), (one) => Number(statOf(one)[1]));
  const all: number[] = [];
  const add = (parent: number) => {
    for (const child of children.get(parent) ?? []) {
      all.push(child);
      add(child);
    }
  };
  add(pid);
  return all;
}

/** Returns the CPU time of each thread of a process in µs. The time of the main thread has the key `pid`. */
function threadMicros(pid: number): Map<number, number> {
  const threads = numbersIn(`/proc/${pid}/task`);
  // The first number of `schedstat` is the CPU time in nanoseconds.
  const microsOf = (thread: number) =>
    Number(textOf(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]) / 1000;
  return new Map(threads.map((thread) => [thread, microsOf(thread)]));
}

/** Returns the fields of /proc/<pid>/stat after the name of the command, which can contain any characters. */
function statOf(pid: number): string[] {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((number) => number > 0);
  } catch {
    return [];
  }
}

/** Returns the content of a file of a process; an empty text if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};
