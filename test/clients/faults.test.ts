import { setTimeout as sleep } from "node:timers/promises";
import { STREAM } from "@statehouse/events";
import {
  type FaultProxy,
  mentions,
  needs,
  ownPostgres,
  startFaultProxy,
  temporaryFolder,
  waitFor,
} from "@statehouse/testing";
import { beforeAll, expect, test } from "vitest";
import { openBus } from "../faults/bus.ts";
import { attempted, lock, newWorkspace, unlock } from "../faults/steps.ts";
import { useFaultFixtureOn } from "../faults/use-fixture.ts";
import { document } from "../stack/http.ts";
import { seededRandom } from "../stack/seeded-random.ts";
import {
  buildDrivers,
  type Language,
  languages,
  type RunningDriver,
  startDriver,
  waitForDriver,
} from "./drivers.ts";
import { tableOf, workspaceEvents } from "./workspace-copy.ts";

/** Time limit for downloading and compiling the packages, which is necessary once on each machine. */
const BUILD_MS = 600_000;
const filter = "statehouse.workspaces.workspace.>";
/** The seed of the random changes. The message of a failure contains it. */
const seed = Number(process.env.STATEHOUSE_FAULTS_SEED ?? "20251122");

/** A subscriber in one language: two replicas with one durable consumer, behind a proxy to NATS. */
interface Subscriber {
  language: Language;
  proxy: FaultProxy;
  /** All processes so far; only the last two still run. */
  replicas: RunningDriver[];
}

needs(
  "nats-server",
  "go",
  "python client",
)("the subscribers' packages of all languages, during an outage of the installation", () => {
  const { fixture, part: postgres } = useFaultFixtureOn(ownPostgres, (own) => ({ postgres: own }));
  let commands: Awaited<ReturnType<typeof buildDrivers>>;
  let folder = "";
  beforeAll(async () => {
    const built = await temporaryFolder();
    folder = built.path;
    commands = await buildDrivers(folder);
    return () => built[Symbol.asyncDispose]();
  }, BUILD_MS);

  const startReplica = ({ language, proxy }: Omit<Subscriber, "replicas">): RunningDriver =>
    startDriver(language, commands[language], {
      ...{ url: `nats://127.0.0.1:${proxy.port}`, login: fixture().stack.nats.login },
      ...{ durable: language, filter, handled: Object.values(workspaceEvents) },
      deadLetters: folder,
    });

  const linesOf = ({ replicas }: Subscriber) => replicas.flatMap((replica) => replica.lines());
  const handledBy = ({ replicas }: Subscriber) => replicas.flatMap((replica) => replica.handled());

  const waiting = async (): Promise<number> =>
    (await fixture().rows("workspaces", "select from outbox")).length;

  /** Changes workspaces at random until `stop` is called. Requests may fail. */
  function startChanges(): { stop(): Promise<void> } {
    const random = seededRandom(seed);
    const ids: string[] = [];
    let stopped = false;
    const change = async () => {
      const at = Math.floor(random() * ids.length);
      const kind = random();
      const [id] = ids.slice(at, at + 1);
      if (id === undefined || kind < 0.3) ids.push(await newWorkspace(fixture()));
      else if (kind < 0.5) {
        const renamed = document("workspaces", { name: `${id}-${Math.floor(random() * 1e6)}` });
        await attempted(fixture().owner.api.patch(`/workspaces/${id}`, renamed));
      } else if (kind < 0.7) await attempted(lock(fixture(), id));
      else if (kind < 0.85) await attempted(unlock(fixture(), id));
      else if (await attempted(fixture().owner.api.delete(`/workspaces/${id}`))) ids.splice(at, 1);
    };
    const running = (async () => {
      while (!stopped) {
        await change().catch(() => {});
        await sleep(20);
      }
    })();
    return {
      async stop() {
        stopped = true;
        await running;
      },
    };
  }

  async function truth(): Promise<Record<string, string>> {
    const rows = await fixture().rows<{ id: string; text: string }>(
      "workspaces",
      "select id, name || ' ' || coalesce(lock_holder_id, '') as text from workspaces",
    );
    return Object.fromEntries(rows.map(({ id, text }): [string, string] => [id, text]).toSorted());
  }

  /** Waits until every subscriber has handled more events than at the time of the call. */
  async function waitForProgress(subscribers: readonly Subscriber[]): Promise<void> {
    for (const subscriber of subscribers) {
      const before = new Set(handledBy(subscriber)).size;
      const [last] = subscriber.replicas.slice(-1);
      if (!last) throw new Error("a subscriber has replicas");
      await waitForDriver(last, () => new Set(handledBy(subscriber)).size > before + 3);
    }
  }

  test(`miss nothing and apply nothing twice (seed ${seed})`, { timeout: 300_000 }, async () => {
    const { stack, proxies } = fixture();
    await using disposing = new AsyncDisposableStack();
    const bus = disposing.use(await waitFor(() => openBus(stack.nats)));
    const subscribers: Subscriber[] = [];
    for (const language of languages) {
      const proxy = disposing.use(await startFaultProxy(stack.nats.port));
      const replicas = [1, 2].map(() => disposing.use(startReplica({ language, proxy })));
      subscribers.push({ language, proxy, replicas });
    }
    const changes = startChanges();
    disposing.defer(() => changes.stop());
    await waitForProgress(subscribers);

    // NATS is killed.
    await stack.nats.kill();
    await waitFor(async () => (await waiting()) > 5);
    await stack.nats.start();
    await waitForProgress(subscribers);

    // The database is killed between a change and its publication.
    proxies.workspacesToNats.partition();
    await waitFor(async () => (await waiting()) > 5);
    await postgres().kill();
    await postgres().start();
    expect(await waitFor(waiting)).toBeGreaterThan(5);
    proxies.workspacesToNats.heal();
    await waitForProgress(subscribers);

    // Kills both replicas after one of them has handled an event and before it has acknowledged the event.
    for (const subscriber of subscribers) {
      const { language, proxy, replicas } = subscriber;
      await proxy.hold({ direction: "requests", when: mentions(`$JS.ACK.${STREAM}.${language}`) });
      for (const replica of replicas) replica.kill("SIGKILL");
      await Promise.all(replicas.map(({ exit }) => exit));
      expect((await bus.consumer(language)).num_ack_pending).toBeGreaterThan(0);
      // Shortens the acknowledgement wait, as if it had passed. The next process sets the normal wait again.
      await bus.manager.consumers.update(STREAM, language, { ack_wait: 50_000_000 });
      proxy.release();
      replicas.push(...[1, 2].map(() => disposing.use(startReplica(subscriber))));
    }
    await waitForProgress(subscribers);

    await changes.stop();
    await waitFor(async () => (await waiting()) === 0);
    const published = (await bus.since(0)).filter(({ type }) =>
      Object.values<string>(workspaceEvents).includes(type),
    );
    const expected = await truth();
    for (const subscriber of subscribers) {
      const { language, replicas } = subscriber;
      const [last] = replicas.slice(-1);
      if (!last) throw new Error("a subscriber has replicas");
      await waitForDriver(last, async () => {
        const { num_pending, num_ack_pending } = await bus.consumer(language);
        return num_pending + num_ack_pending === 0;
      });
      const handled = handledBy(subscriber);
      const missed = published.filter(({ id }) => !handled.includes(id));
      expect(missed, language).toEqual([]);
      expect(handled.length, language).toBeGreaterThan(new Set(handled).size);
      for (const replica of replicas.slice(0, 2)) {
        expect(replica.handled().length, language).toBeGreaterThan(0);
      }
      // The copy equals the database in whichever order the events are applied, even if some were delivered twice.
      const lines = linesOf(subscriber);
      expect(tableOf(lines), language).toEqual(expected);
      expect(tableOf(lines.toReversed()), language).toEqual(expected);
    }
  });
});
