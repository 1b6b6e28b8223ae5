import { pageOf } from "@statehouse/postgres";
import type { SshKeyService } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { idParser, workspaceId } from "../ids-rpc.ts";
import { workspaceToProto } from "../workspace/message-rpc.ts";
import {
  assignSshKey,
  createSshKey,
  deleteSshKey,
  getSshKey,
  listSshKeys,
  updateSshKey,
} from "./app.ts";
import { type SshKey, sshKeyNotFound } from "./domain.ts";

const sshKeyId = idParser("sshkey", sshKeyNotFound);

export const sshKeyService = (app: App): ServiceImpl<typeof SshKeyService> => ({
  createSshKey: async (request, { caller }) => ({
    sshKey: toProto(await createSshKey(app, caller, request)),
  }),
  getSshKey: async ({ id }, { caller }) => ({
    sshKey: toProto(await getSshKey(app, caller, sshKeyId(id))),
  }),
  listSshKeys: async ({ organizationName, ...page }, { caller }) => {
    const input = { organizationName, page: pageOf(page) };
    const { rows, total } = await listSshKeys(app, caller, input);
    return { sshKeys: rows.map(toProto), totalCount: total };
  },
  updateSshKey: async ({ id, name, value }, { caller }) => ({
    sshKey: toProto(await updateSshKey(app, caller, { id: sshKeyId(id), name, value })),
  }),
  deleteSshKey: async ({ id }, { caller }) => {
    await deleteSshKey(app, caller, sshKeyId(id));
    return {};
  },
  assignSshKey: async (request, { caller }) => ({
    workspace: workspaceToProto(
      await assignSshKey(app, caller, {
        workspaceId: workspaceId(request.workspaceId),
        sshKeyId: request.sshKeyId === "" ? null : sshKeyId(request.sshKeyId),
      }),
    ),
  }),
});

/** Selects these two fields explicitly, so that a message never contains the private key. */
const toProto = ({ id, name }: Pick<SshKey, "id" | "name">) => ({ id, name });
