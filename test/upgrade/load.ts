import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { WorkingFolder } from "../compat/command-line.ts";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { announcement, md5Of, type StateFile, stateFile } from "../stack/state.ts";

/** A failed operation, with its start and end in ms since the epoch. */
export interface Failure {
  what: string;
  start: number;
  end: number;
  problem: string;
}

/**
 * How the Terraform CLI says that one of its first requests failed: for the version of the API, and for the organization,
 * except that the organization does not exist or that the token is invalid.
 */
const FIRST_REQUEST =
  /Unsupported Terraform Enterprise version|Failed to read organization(?!.*(?:not found|unauthorized))/s;
const ALREADY_LOCKED = "workspace already locked";
const ALREADY_UNLOCKED = "workspace already unlocked";
/** How the CLI says that its request for outputs received no complete response, or 502 from a proxy. */
const NO_OUTPUTS =
  /could not read state version outputs?.*: (?:502 Bad Gateway|.*(?:EOF|connection reset by peer))$/m;
/** The identifier of a lock as the CLI prints it, `organization/workspace`. */
const LOCK_ID = /lock\s+ID:\s+"([^"]+)"/;

/**
 * Returns whether a run of the Terraform CLI failed because a request received no response or a server error. The CLI
 * does not repeat its first requests, and repeats its request for outputs only after 503. It repeats all others. If a
 * request to lock or unlock was handled and only its response was lost, the repeated request is refused with 409:
 * nothing in it distinguishes it from the request of another run.
 */
export const lostResponse = ({ what, problem }: Failure): boolean =>
  what === "apply" &&
  ([FIRST_REQUEST, NO_OUTPUTS].some((text) => text.test(problem)) ||
    [ALREADY_LOCKED, ALREADY_UNLOCKED].some((text) => problem.includes(text)));

export interface Load extends AsyncDisposable {
  /** All failures so far. */
  readonly failures: readonly Failure[];
  /** The numbers of requests, uploads and applies that have succeeded. */
  readonly done: { requests: number; uploads: number; applies: number };
  /**
   * Ends the load. Throws if the current state of a workspace is neither the last confirmed nor the last sent state.
   */
  stop(): Promise<void>;
  /**
   * Returns one line with counts, and with the 99th percentile of the durations of requests since the last call of
   * `report`, without large uploads.
   */
  report(): string;
}

interface LoadOptions {
  /** The public address. */
  url: string;
  token: string;
  organization: string;
  /** The folder in which the Terraform CLI applies one change after the other. */
  folder: WorkingFolder;
  /** Operations per second; one operation consists of up to five requests. */
  rate: number;
  /** Maximum number of concurrent operations; without a maximum, their number would keep growing on a slow machine. */
  atOnce?: number;
  /** Size of an upload in bytes. Two uploads run at any time. */
  uploadBytes: number;
  /** Minimum duration of an upload in ms. */
  uploadMs: number;
}

interface Workspace {
  id: string;
  lineage: string;
  busy: boolean;
  /** Undefined until the first state is confirmed. */
  confirmed?: StateFile;
  /** The last state that was sent. */
  sent?: StateFile;
}

interface Answer {
  status: number;
  bytes: Buffer;
}

const WORKSPACES = 20;
/** Number of loops that run in addition to the operations: two loops of uploads, and one of the Terraform CLI. */
const LOOPS = 3;
const CHUNKS = 20;
const TIMEOUT_MS = 90_000;

/** Uses the API as its clients do: small requests, large uploads and the real Terraform CLI. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const { url, token, organization, folder, rate, uploadBytes, uploadMs } = options;
  const { atOnce = Number.POSITIVE_INFINITY } = options;
  const agent = new Agent({ keepAlive: true });
  const failures: Failure[] = [];
  const done = { requests: 0, uploads: 0, applies: 0 };
  let durations: number[] = [];
  let stopped = false;

  const exchange = (method: string, target: string, body?: Buffer, slowly = 0): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(target.includes("/v1/object/") && method === "PUT"
          ? { "content-type": "application/octet-stream" }
          : { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" }),
        ...(body && { "content-length": String(body.length) }),
      };
      const outgoing = request(target, { agent, method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => void chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, bytes: Buffer.concat(chunks) }),
        );
      });
      outgoing.setTimeout(TIMEOUT_MS, () => outgoing.destroy(new Error("no answer")));
      outgoing.on("error", reject);
      void sendBody(outgoing, body ?? Buffer.alloc(0), slowly);
    });

  /** Makes a request. If the status is not the expected one, records the failure and throws. */
  const call = async (
    expected: number,
    method: string,
    path: string,
    { body, bytes, slowly = 0 }: { body?: object; bytes?: Buffer; slowly?: number } = {},
  ): Promise<Answer> => {
    const start = Date.now();
    const target = path.startsWith("http") ? path : `${url}/api/v2${path}`;
    const sent = bytes ?? (body && Buffer.from(JSON.stringify(body)));
    const answer = await exchange(method, target, sent, slowly).catch((error: Error) => error);
    const end = Date.now();
    if (!(answer instanceof Error) && answer.status === expected) {
      done.requests++;
      if (slowly === 0) durations.push(end - start);
      return answer;
    }
    const problem =
      answer instanceof Error
        ? answer.message
        : `${answer.status}: ${answer.bytes.toString("utf8", 0, 300)}`;
    const failure = { what: `${method} ${new URL(target).pathname}`, start, end, problem };
    failures.push(failure);
    throw new Error(`${failure.what}: ${problem}`);
  };
  const read = async (path: string) => JSON.parse((await call(200, "GET", path)).bytes.toString());

  const newWorkspace = async (): Promise<Workspace> => {
    const created = await call(201, "POST", `/organizations/${organization}/workspaces`, {
      body: document("workspaces", { name: unusedName("load") }),
    });
    const { id } = JSON.parse(created.bytes.toString()).data;
    return { id, lineage: randomUUID(), busy: false };
  };

  /**
   * Writes the next state of a workspace with the requests of the Terraform CLI. A workspace whose write failed stays
   * busy.
   */
  const write = async (workspace: Workspace, size: number, slowly: number) => {
    workspace.busy = true;
    const { id, lineage } = workspace;
    const serial = (workspace.confirmed?.serial ?? 0) + 1;
    const state = stateFile({ serial, lineage, marker: "x".repeat(size) });
    workspace.sent = state;
    await call(200, "POST", `/workspaces/${id}/actions/lock`, { body: {} });
    const created = await call(201, "POST", `/workspaces/${id}/state-versions`, {
      body: announcement(state),
    });
    const { attributes } = JSON.parse(created.bytes.toString()).data;
    await call(200, "PUT", attributes["hosted-state-upload-url"], { bytes: state.bytes, slowly });
    workspace.confirmed = state;
    await call(200, "POST", `/workspaces/${id}/actions/unlock`, { body: {} });
    workspace.busy = false;
  };
  const download = async ({ id }: Workspace) => {
    const { data } = await read(`/workspaces/${id}/current-state-version`);
    const { serial, "hosted-state-download-url": address } = data.attributes;
    return { serial, md5: md5Of((await call(200, "GET", address)).bytes) };
  };

  const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, newWorkspace));
  for (const workspace of workspaces) await write(workspace, 10, 0);
  let turn = 0;
  const next = () => {
    const written = workspaces.filter(({ confirmed }) => confirmed);
    const workspace = written[turn++ % written.length];
    if (!workspace) throw new Error("no workspace");
    return workspace;
  };
  const free = () => workspaces.find(({ busy }) => !busy);
  const operations: readonly (() => Promise<unknown>)[] = [
    () => read(`/organizations/${organization}/workspaces?page[size]=20`),
    () => read(`/workspaces/${next().id}`),
    () => download(next()),
    async () => {
      const workspace = free();
      if (!workspace) return;
      // Moves the workspace to the end of the list, so that the next write uses another one.
      workspaces.push(...workspaces.splice(workspaces.indexOf(workspace), 1));
      await write(workspace, 20_000, 0).catch(async () => {
        workspaces.push(await newWorkspace());
      });
    },
    () => read(`/organizations/${organization}/teams`),
    () =>
      call(200, "PATCH", `/workspaces/${next().id}`, {
        body: document("workspaces", { description: `changed ${turn}` }),
      }),
    () => read(`/organizations/${organization}`),
    () => read("/account/details"),
  ];

  const running = new Set<Promise<unknown>>();
  const track = (work: Promise<unknown>) => {
    // `call` has recorded the failure.
    const settled = work.catch(() => {}).finally(() => running.delete(settled));
    running.add(settled);
  };
  let count = 0;
  const timer = setInterval(() => {
    if (running.size >= atOnce + LOOPS) return;
    const operation = operations[count++ % operations.length];
    if (operation) track(operation());
  }, 1000 / rate);

  const uploads = async () => {
    let workspace: Workspace | undefined;
    while (!stopped) {
      try {
        if (!workspace || workspace.busy) {
          workspace = await newWorkspace();
          large.push(workspace);
        }
        await write(workspace, uploadBytes, uploadMs);
        done.uploads++;
      } catch {
        // `call` has recorded the failure; the next upload uses another workspace.
        await pause(100);
      }
    }
  };
  const large: Workspace[] = [];
  const applies = async () => {
    for (let round = 1; !stopped; round++) {
      const start = Date.now();
      const greeting = `round ${round}`;
      const { code, output } = await folder.run(
        "apply",
        "-auto-approve",
        "-var",
        `greeting=${greeting}`,
      );
      const shown = await folder.run("output", "-raw", "text");
      if (code === 0 && shown.stdout === greeting) {
        done.applies++;
        continue;
      }
      const problem = `${output}\n${shown.output}`;
      failures.push({ what: "apply", start, end: Date.now(), problem });
      // If the response to the request for the lock was lost, the CLI leaves the workspace locked. All later runs would
      // then fail.
      const [, lock] = problem.includes(ALREADY_LOCKED) ? (LOCK_ID.exec(problem) ?? []) : [];
      if (lock) await folder.run("force-unlock", "-force", lock);
    }
  };
  track(uploads());
  track(uploads());
  track(applies());

  const end = async () => {
    stopped = true;
    clearInterval(timer);
    await Promise.all(running);
  };
  return {
    failures,
    done,
    report() {
      const sorted = durations.toSorted((a, b) => a - b);
      durations = [];
      const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
      return `${sorted.length} requests, p99 ${p99} ms; in all ${done.requests} requests, ${done.uploads} uploads, ${done.applies} applies, ${failures.length} failures`;
    },
    async stop() {
      await end();
      for (const workspace of [...workspaces, ...large]) {
        const { id, confirmed, sent } = workspace;
        if (!confirmed) continue;
        const current = await download(workspace);
        const expected = [confirmed, sent].find((state) => state?.serial === current.serial);
        if (current.md5 !== expected?.md5) {
          throw new Error(
            `${id}: serial ${confirmed.serial} was confirmed, but serial ${current.serial} is current`,
          );
        }
      }
    },
    async [Symbol.asyncDispose]() {
      await end();
      agent.destroy();
    },
  };
}

/** Sends a body. If `slowly` is not 0, sends it in parts with pauses that together take `slowly` ms. */
async function sendBody(
  outgoing: ReturnType<typeof request>,
  body: Buffer,
  slowly: number,
): Promise<void> {
  if (slowly === 0) {
    outgoing.end(body);
    return;
  }
  const size = Math.ceil(body.length / CHUNKS);
  for (let offset = 0; offset < body.length && !outgoing.destroyed; offset += size) {
    outgoing.write(body.subarray(offset, offset + size));
    await pause(slowly / CHUNKS);
  }
  outgoing.end();
}
