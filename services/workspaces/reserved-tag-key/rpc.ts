import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import type {
  ReservedTagKeySchema,
  ReservedTagKeyService,
} from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { idParser } from "../ids-rpc.ts";
import {
  createReservedTagKey,
  deleteReservedTagKey,
  listReservedTagKeys,
  updateReservedTagKey,
} from "./app.ts";
import { type ReservedTagKey, reservedTagKeyNotFound } from "./domain.ts";

const reservedTagKeyId = idParser("rtk", reservedTagKeyNotFound);

export const reservedTagKeyService = (app: App): ServiceImpl<typeof ReservedTagKeyService> => ({
  listReservedTagKeys: async ({ organizationName, ...page }, { caller }) => {
    const input = { organizationName, page: pageOf(page) };
    const { rows, total } = await listReservedTagKeys(app, caller, input);
    return { reservedTagKeys: rows.map(toProto), totalCount: total };
  },
  createReservedTagKey: async (request, { caller }) => ({
    reservedTagKey: toProto(await createReservedTagKey(app, caller, request)),
  }),
  updateReservedTagKey: async ({ id, key, disableOverrides }, { caller }) => {
    const input = { id: reservedTagKeyId(id), key, disableOverrides };
    return { reservedTagKey: toProto(await updateReservedTagKey(app, caller, input)) };
  },
  deleteReservedTagKey: async ({ id }, { caller }) => {
    await deleteReservedTagKey(app, caller, reservedTagKeyId(id));
    return {};
  },
});

const toProto = (
  reservedTagKey: Omit<ReservedTagKey, "organizationId" | "revision">,
): MessageInitShape<typeof ReservedTagKeySchema> => ({
  ...reservedTagKey,
  createdAt: timestampFromDate(reservedTagKey.createdAt),
  updatedAt: timestampFromDate(reservedTagKey.updatedAt),
});
