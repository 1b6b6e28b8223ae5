import type { Environment, ServiceName } from "@statehouse/standalone/environments";

/** One service as an operating-system process. */
export interface ServiceProcess extends AsyncDisposable {
  readonly name: ServiceName;
  readonly environment: Environment;
  readonly running: boolean;
  /** Returns everything that the process has printed. */
  output(): string;
  /** Sends SIGKILL and waits until the process has exited. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
  /**
   * Starts the process, or starts it again on the same ports, and waits until it is ready. `largestFile` is the maximum
   * size of each file that the process writes, in bytes.
   */
  start(limits?: { largestFile?: number }): Promise<void>;
  pid(): number;
}
