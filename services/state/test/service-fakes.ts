import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { notFound, unauthenticated } from "@statehouse/errors";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { type AssertionKeys, createRpcServer, implement } from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";

export const organizationId = "org-1";
export const projectId = "prj-1";
export const teamIds = { owners: "team-owners", readers: "team-readers" } as const;

/** Creates a user that the fake access service knows. */
const user = <Name extends string>(name: Name) =>
  ({ type: "user", id: `user-${name}`, versions: "1", tokenId: `at-${name}` }) as const;
export const owner = user("owner");
export const otherOwner = user("other");
export const reader = user("reader");
export const outsider = user("stranger");

/** The time at which every lock was taken. */
const since = timestampFromMs(0);

interface Held {
  holder: { type: string; id: string };
  epoch: bigint;
}

/** Fakes of the access and workspaces services, which the state service calls over real channels. */
export function startServiceFakes({ keys, logger }: { keys: AssertionKeys; logger: Logger }) {
  const locks = new Map<string, Held>();
  const projects = new Map<string, { projectId: string; version: bigint }>();
  const deleted = new Set<string>();
  const calls = { locks: 0, placements: 0, retentions: 0 };
  const retentions = new Map<string, { days?: number; plan?: string }>();
  let retentionVersion = 1n;
  let duringCall: (() => Promise<void>) | undefined;
  const elsewhere = async (): Promise<never> => {
    throw notFound("method in this test");
  };
  const placementOf = (workspaceId: string) => {
    const placed = projects.get(workspaceId);
    if (!placed) throw notFound("workspace");
    return { workspaceId, organizationId, ...placed };
  };
  const common = { keys, logger, context: async () => ({}) };

  const access = createRpcServer({
    ...common,
    name: "access",
    bindings: [
      implement(GrantsService, {
        batchCheckActions: elsewhere,
        getGrants: async ({ principalType, principalId }) => ({
          grants: {
            principalType,
            principalId,
            versions: "1",
            organizations: principalId === outsider.id ? [] : [grantsOf(principalId)],
          },
        }),
      }),
      implement(AuthenticationService, {
        authenticate: async ({ token }) => {
          const principal = [owner, reader, outsider].find(({ id }) => id === token);
          if (!principal) throw unauthenticated();
          return { principal };
        },
        authenticateTokenId: async ({ tokenId }) => {
          const principal = [owner, otherOwner, reader, outsider].find(
            (known) => known.tokenId === tokenId,
          );
          if (!principal) throw unauthenticated();
          return { principal };
        },
        batchAuthenticate: elsewhere,
        recordRefusal: elsewhere,
      }),
    ],
  });
  const workspaces = createRpcServer({
    ...common,
    name: "workspaces",
    bindings: [
      implement(DataRetentionPolicyService, {
        getDataRetentionPolicy: elsewhere,
        setDataRetentionPolicy: elsewhere,
        deleteDataRetentionPolicy: elsewhere,
        batchGetRetention: async ({ workspaceIds }) => {
          calls.retentions++;
          const answer = {
            version: retentionVersion,
            retentions: workspaceIds.flatMap((workspaceId) => {
              const kept = retentions.get(workspaceId);
              if (!projects.has(workspaceId)) return [];
              const { days, plan = "premium" } = kept ?? {};
              return {
                workspaceId,
                organizationId,
                plan,
                ...(days === undefined ? {} : { deleteOlderThanNDays: days }),
              };
            }),
          };
          const meanwhile = duringCall;
          duringCall = undefined;
          await meanwhile?.();
          return answer;
        },
      }),
      implement(WorkspaceLockService, {
        lockWorkspace: elsewhere,
        unlockWorkspace: elsewhere,
        forceUnlockWorkspace: elsewhere,
        getLock: async ({ workspaceId }) => {
          calls.locks++;
          const held = locks.get(workspaceId);
          const placement = placementOf(workspaceId);
          if (!held) return { placement };
          const { holder, epoch } = held;
          const lock = { holderType: holder.type, holderId: holder.id, epoch, since };
          return { placement, lock };
        },
        getPlacement: async ({ workspaceId }) => {
          calls.placements++;
          return { placement: placementOf(workspaceId) };
        },
        batchGetPlacements: async ({ workspaceIds }) => ({
          placements: workspaceIds.filter((id) => projects.has(id)).map(placementOf),
          deletedWorkspaceIds: workspaceIds.filter((id) => deleted.has(id)),
        }),
      }),
    ],
  });
  return {
    channels: { access: access.inProcess(), workspaces: workspaces.inProcess() },
    calls,
    /** Opens a gRPC port for the fake workspaces service. */
    listen: () => workspaces.listen({ host: "127.0.0.1", port: 0 }),
    /** Adds a workspace. */
    place: (workspaceId: string, project = projectId, version = 1n) =>
      void projects.set(workspaceId, { projectId: project, version }),
    lock: (workspaceId: string, holder: Held["holder"], epoch: bigint) =>
      void locks.set(workspaceId, { holder, epoch }),
    /** Sets the retention of the workspace; returns the version of the change. */
    retain: (workspaceId: string, retention: { days?: number; plan?: string }): bigint => {
      retentions.set(workspaceId, retention);
      return ++retentionVersion;
    },
    /** Runs `happens` once: after the next retention response is created and before it is sent. */
    meanwhile: (happens: () => Promise<void>) => {
      duringCall = happens;
    },
    delete: (workspaceId: string) => {
      projects.delete(workspaceId);
      deleted.add(workspaceId);
    },
    /** After this call, the fake reports the workspace as deleted. */
    confirmDeletion: (workspaceId: string) => void deleted.add(workspaceId),
    forget: (workspaceId: string) => void projects.delete(workspaceId),
    unlock: (workspaceId: string) => void locks.delete(workspaceId),
    async [Symbol.asyncDispose]() {
      await Promise.all([access[Symbol.asyncDispose](), workspaces[Symbol.asyncDispose]()]);
    },
  };
}

const grantsOf = (principalId: string) =>
  principalId === reader.id
    ? {
        organizationId,
        teamIds: [teamIds.readers],
        projects: [{ targetId: projectId, access: "read", permissions: {} }],
      }
    : { organizationId, teamIds: [teamIds.owners], owner: true };
