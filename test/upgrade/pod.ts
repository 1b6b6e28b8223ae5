import { mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { PodSpec, Probe } from "../chart/helm.ts";
import { type ProcessOptions, startProcess } from "./container.ts";

/** A pod of a Deployment: a process that is probed, restarted and stopped in the same way as by the kubelet. */
export interface Pod {
  readonly spec: PodSpec;
  readonly ip: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly ended: boolean;
  /** Number of times that its process has ended and been restarted. */
  readonly restarts: number;
  /** Everything that its processes have printed. */
  output(): string;
  /** Waits for `preStop` and sends SIGTERM; sends SIGKILL if the process has not ended within the grace period. */
  terminate(): void;
  /** Sends SIGKILL to the process; resolves when it has ended. The pod starts it again. */
  kill(): Promise<void>;
  /** Ends the process immediately. */
  destroy(): Promise<void>;
}

interface PodOptions extends ProcessOptions {
  spec: PodSpec;
  /** Called when `ready`, `terminating` or `ended` has changed. */
  onChange: () => void;
  /** Called with a description of each event that must not happen. */
  onProblem: (problem: string) => void;
}

/** Starts a pod. */
export function startPod({ spec, onChange, onProblem, ...options }: PodOptions): Pod {
  const { ip } = options;
  const [container] = spec.containers;
  if (!container) throw new Error("the pod has no container");
  const { startupProbe, readinessProbe, livenessProbe, lifecycle, ports = [], args } = container;
  const state = { ready: false, terminating: false, ended: false, restarts: 0 };
  const change = (changed: Partial<typeof state>) => {
    Object.assign(state, changed);
    onChange();
  };
  let printed = "";
  let killed = false;

  const start = () => {
    const folder = path.join(options.folder, `${ip}-${state.restarts}`);
    mkdirSync(folder, { recursive: true });
    return startProcess(spec, { ...options, folder });
  };
  let running = start();

  const succeeds = async ({ httpGet: { path, port }, timeoutSeconds = 1 }: Probe) => {
    const number = ports.find(({ name }) => name === port)?.containerPort;
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    return await fetch(`http://${ip}:${number}${path}`, { signal }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
  };
  /**
   * Repeats a probe while `process` is the running process. Calls `onResult` with true after each success, and with
   * false after a failure if at least `failureThreshold` attempts in succession have failed.
   */
  const repeat = async (
    process: typeof running,
    probe: Probe,
    onResult: (succeeds: boolean) => void,
  ) => {
    const { periodSeconds = 10, failureThreshold = 3 } = probe;
    for (let failures = 0; process === running && !state.ended; ) {
      const result = await succeeds(probe);
      failures = result ? 0 : failures + 1;
      if (process !== running || state.ended) return;
      if (result || failures >= failureThreshold) onResult(result);
      await pause(periodSeconds * 1000);
    }
  };
  const probe = async (process: typeof running) => {
    if (!startupProbe || !readinessProbe || !livenessProbe) throw new Error("a probe is missing");
    const { periodSeconds = 10, failureThreshold = 3 } = startupProbe;
    for (let attempts = 1; !(await succeeds(startupProbe)); attempts++) {
      if (process !== running || state.ended) return;
      if (attempts >= failureThreshold) {
        onProblem(`${args.join(" ")} did not start:\n${process.output()}`);
        process.signal("KILL");
        return;
      }
      await pause(periodSeconds * 1000);
    }
    void repeat(process, readinessProbe, (ready) => {
      if (ready !== state.ready) change({ ready });
    });
    void repeat(process, livenessProbe, (alive) => {
      if (alive || state.terminating) return;
      onProblem(`${args.join(" ")} was restarted by its liveness probe:\n${process.output()}`);
      process.signal("KILL");
    });
  };
  const watch = async (process: typeof running): Promise<void> => {
    void probe(process);
    const code = await process.exit;
    printed += process.output();
    if (state.terminating || state.ended) {
      if (code !== 0 && !state.ended) {
        onProblem(`${args.join(" ")} ended with ${code}:\n${process.output()}`);
      }
      change({ ready: false, ended: true });
      return;
    }
    if (!killed) onProblem(`${args.join(" ")} ended by itself:\n${process.output()}`);
    killed = false;
    change({ ready: false, restarts: state.restarts + 1 });
    running = start();
    await watch(running);
  };
  const watching = watch(running);

  const terminate = async () => {
    change({ terminating: true });
    const grace = (spec.terminationGracePeriodSeconds ?? 30) * 1000;
    const sleep = (lifecycle?.preStop.sleep.seconds ?? 0) * 1000;
    await pause(sleep);
    running.signal("TERM");
    await Promise.race([watching, pause(grace - sleep)]);
    if (state.ended) return;
    onProblem(`${args.join(" ")} has not ended within its grace period:\n${running.output()}`);
    running.signal("KILL");
  };
  return {
    spec,
    ip,
    get ready() {
      return state.ready;
    },
    get terminating() {
      return state.terminating;
    },
    get ended() {
      return state.ended;
    },
    get restarts() {
      return state.restarts;
    },
    output: () => printed + running.output(),
    terminate: () => void terminate(),
    async kill() {
      killed = true;
      running.signal("KILL");
      await running.exit;
    },
    async destroy() {
      if (state.ended) return;
      state.ended = true;
      running.signal("KILL");
      await watching;
    },
  };
}
