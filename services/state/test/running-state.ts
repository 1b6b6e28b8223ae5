import { createHash, randomBytes } from "node:crypto";
import { createAudit } from "@statehouse/audit";
import { openDatabase } from "@statehouse/postgres";
import { RetentionService } from "@statehouse/proto/statehouse/state/v1/retention";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { WorkspaceStateService } from "@statehouse/proto/statehouse/state/v1/workspace_state";
import { createCallers, createClient, createRpcServer, grantsFromAccess } from "@statehouse/rpc";
import type { EditionName } from "@statehouse/runtime";
import { temporaryFolder } from "@statehouse/testing";
import type { App } from "../app.ts";
import { bindings } from "../bindings-rpc.ts";
import { createApp } from "../create-app.ts";
import { migrations } from "../migrations.ts";
import { entities } from "../nouns.ts";
import { openDirectoryStore } from "../object/directory-store.ts";
import { beginUpload, finishUpload } from "../state-version/upload-app.ts";
import { install } from "./installation.ts";
import { owner } from "./service-fakes.ts";

export type RunningState = Awaited<ReturnType<typeof runState>>;

export const md5Of = (bytes: string): string => createHash("md5").update(bytes).digest("hex");

interface CreateOptions {
  serial?: bigint;
  lineage?: string;
  force?: boolean;
  inline?: boolean;
}

/**
 * Runs the use cases on a separate database behind their gRPC services. There are no workers, and the store holds only
 * contents from create requests, so tests decide when extraction and uploads happen.
 */
export async function runState({ edition = "self-hosted" as EditionName } = {}) {
  await using starting = new AsyncDisposableStack();
  const installation = starting.use(await install({ edition }));
  const { config, identities, keys, logger, fakes: others } = installation;
  const statements: string[] = [];
  const database = starting.use(
    await openDatabase({
      contextName: "state",
      url: config.DATABASE_URL,
      entities,
      migrations,
      logger,
      onStatement: (sql) => void statements.push(sql),
    }),
  );
  const { channels } = others;
  const identity = identities.state;
  const callerOf = createCallers(grantsFromAccess(channels.access, identity));
  const audit = createAudit(database, "state");
  const parts = { config, database, audit, channels, identity, callerOf, logger, options: {} };
  const folder = starting.use(await temporaryFolder());
  const store = starting.use(await openDirectoryStore(folder.path));
  let shiftMs = 0;
  const app: App = { ...createApp(parts), now: () => new Date(Date.now() + shiftMs) };
  const rpc = starting.use(
    createRpcServer({
      name: "state",
      keys,
      context: async (principal) => ({ caller: await callerOf(principal) }),
      logger,
      bindings: bindings(app),
    }),
  );
  const channel = rpc.inProcess();
  const versions = createClient(StateVersionService, channel, identities.gateway.on(owner));
  let attempts = 0;

  const attemptOf = (bytes: string) => ({
    blobKey: `blob-${++attempts}`,
    attemptStartedAt: app.now(),
    size: Buffer.byteLength(bytes),
    sha256: createHash("sha256").update(bytes).digest("hex"),
    md5: md5Of(bytes),
  });

  const create = (workspaceId: string, bytes: string, { inline, ...more }: CreateOptions = {}) =>
    versions.createStateVersion({
      workspaceId,
      serial: 1n,
      lineage: "a",
      md5: md5Of(bytes),
      ...(inline ? { inlineSize: BigInt(Buffer.byteLength(bytes)) } : {}),
      ...more,
    });

  const put = async (url: string, bytes: string, attempt = attemptOf(bytes)) => {
    const claims = app.uploadTokens.verify(url.slice(url.lastIndexOf("/") + 1), app.now());
    if (!claims) throw new Error("the token is not valid");
    const { target } = await beginUpload(app, claims);
    return { outcome: await finishUpload(app, target, claims.kind, attempt) };
  };

  const workspaceState = createClient(WorkspaceStateService, channel, identities.workspaces);
  const running = starting.move();
  return {
    app,
    database,
    fakes: others,
    statements,
    versions,
    outputs: createClient(StateVersionOutputService, channel, identities.gateway.on(owner)),
    store,
    workspaceState: {
      ...workspaceState,
      /** Calls DropWorkspace in the same order as the workspaces service: after the deletion is committed. */
      dropWorkspace(request: Parameters<typeof workspaceState.dropWorkspace>[0]) {
        others.confirmDeletion(request.workspaceId ?? "");
        return workspaceState.dropWorkspace(request);
      },
    },
    /** Calls DropWorkspace for a workspace that the workspaces service does not report as deleted. */
    dropUnconfirmed: (workspaceId: string) => workspaceState.dropWorkspace({ workspaceId }),
    channel,
    /** The options of calls that the gateway makes for the owner. */
    identity: identities.gateway.on(owner),
    retention: createClient(RetentionService, channel, identities.workspaces),
    as: identities.gateway.on,
    callerOf,
    attemptOf,

    /** Advances the clock by this number of ms. */
    pass: (ms: number) => {
      shiftMs += ms;
    },

    /** Adds a locked workspace to the fakes; returns its id. */
    lockedWorkspace(epoch = 10n) {
      const id = `ws-${randomBytes(8).toString("hex")}`;
      others.place(id);
      others.lock(id, owner, epoch);
      return id;
    },

    /** Sends a create request for these bytes. */
    create,

    /**
     * Runs the use cases of an upload to an upload URL or path, as the object server does; the bytes are not stored.
     */
    put,

    /** Creates a version and uploads its bytes; returns its id. */
    async write(workspaceId: string, bytes: string, more?: CreateOptions): Promise<string> {
      const { stateVersion, internalUploadPath } = await create(workspaceId, bytes, more);
      await put(internalUploadPath, bytes);
      return stateVersion?.id ?? "";
    },

    /** Returns the types of this workspace's events that are still in the outbox, oldest first. */
    async events(workspaceId: string): Promise<string[]> {
      const rows = await database.query<{ type: string }>(
        "select type from outbox where subject = $1 order by id",
        [workspaceId],
      );
      return rows.map(({ type }) => type.replace(/^statehouse\.state\.(.*)\.v1$/, "$1"));
    },

    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
