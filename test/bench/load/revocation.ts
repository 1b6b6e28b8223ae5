import { Client } from "undici";
import type { RevocationPlan, RevocationResult } from "./revocation-plan.ts";

/** Number of reads that are sent directly after each change, in addition to those of the readers. */
const PROBES = 4;

interface Answer {
  status: number;
  text: string;
}

// This runs in a separate process, because the event loop of the services would delay the observation of responses.
process.on("message", (plan: RevocationPlan) => {
  void watch(plan).then((result) => process.send?.(result));
});
process.on("disconnect", () => process.exit(0));

/**
 * Revokes and recreates a grant while readers read. Checks only the reads that do not overlap with a change: those that
 * are sent after a change was confirmed and answered before the next change is sent. Such a read must return 200 if the
 * grant exists and 404 if it does not; otherwise it is stale.
 */
async function watch(plan: RevocationPlan): Promise<RevocationResult> {
  const end = performance.now() + plan.seconds * 1000;
  const found: RevocationResult = { changes: 0, seconds: 0, checked: 0, stale: 0, problems: [] };
  /** Increases when a change is sent and when its response arrives, so it is even while no change is in progress. */
  let step = 0;
  let granted = true;

  const read = async (client: Client, headers: Record<string, string>): Promise<void> => {
    const sentAt = step;
    const expected = granted ? 200 : 404;
    const { status } = await ask(client, "GET", plan.path, headers);
    if (sentAt % 2 === 1 || step !== sentAt) return;
    found.checked++;
    if (status !== expected) {
      found.stale++;
      found.problems.push(`answered ${status} instead of ${expected}`);
    }
  };
  const change = async (to: boolean, send: () => Promise<void>): Promise<void> => {
    step++;
    await send();
    granted = to;
    step++;
    found.changes++;
  };

  const clients = plan.readers.map(() => new Client(plan.origin));
  const reading = clients.map(async (client, index) => {
    const headers = plan.readers[index] ?? {};
    while (performance.now() < end) await read(client, headers);
  });
  const owner = new Client(plan.origin);
  const probes = clients.slice(0, PROBES).map(() => new Client(plan.origin));
  const probe = () =>
    Promise.all(probes.map((client, index) => read(client, plan.readers[index] ?? {})));
  const changing = async (): Promise<void> => {
    let { grantId } = plan;
    const startedAt = performance.now();
    while (performance.now() < end) {
      await change(false, async () => {
        await expected(204, ask(owner, "DELETE", `${plan.grants}/${grantId}`, plan.headers));
      });
      await probe();
      await change(true, async () => {
        const made = ask(owner, "POST", plan.grants, plan.headers, plan.grant);
        grantId = JSON.parse(await expected(200, made)).data.id;
      });
      await probe();
    }
    found.seconds = (performance.now() - startedAt) / 1000;
  };
  await Promise.all([changing(), ...reading]);
  await Promise.all([owner, ...clients, ...probes].map((client) => client.close()));
  return found;
}

async function expected(status: number, asked: Promise<Answer>): Promise<string> {
  const answer = await asked;
  if (answer.status !== status) throw new Error(`a change returned ${answer.status}`);
  return answer.text;
}

async function ask(
  client: Client,
  method: "GET" | "POST" | "DELETE",
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Answer> {
  const answer = await client.request({ method, path, headers, body: body ?? null });
  return { status: answer.statusCode, text: await answer.body.text() };
}
