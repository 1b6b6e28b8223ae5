import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { idsIn } from "@statehouse/postgres/ids";
import { pageOf } from "@statehouse/postgres/paging";
import type { UserSchema, UserService } from "@statehouse/proto/statehouse/access/v1/user";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { userId } from "../ids-rpc.ts";
import {
  batchGetUsers,
  batchListOrganizationOwners,
  createUser,
  deleteUser,
  getCurrentUser,
  getUser,
  getUserByName,
  listUsers,
  setUserRights,
  updateCurrentUser,
} from "./app.ts";
import type { UserView } from "./domain.ts";

export const userService = (app: App): ServiceImpl<typeof UserService> => ({
  createUser: async ({ username, email, administrator }, { caller }) => ({
    user: userToProto(await createUser(app, caller, { username, email, administrator })),
  }),

  getUserByName: async ({ username }) => ({
    user: userToProto(await getUserByName(app, username)),
  }),

  getCurrentUser: async (_, { caller }) => ({
    user: userToProto(await getCurrentUser(app, caller)),
  }),

  updateCurrentUser: async ({ username, email }, { caller }) => ({
    user: userToProto(await updateCurrentUser(app, caller, { username, email })),
  }),

  getUser: async ({ id }, { caller }) => ({
    user: userToProto(await getUser(app, caller, userId(id))),
  }),

  listUsers: async ({ query, administrator, suspended, ...page }, { caller }) => {
    const search = { query, administrator, suspended, page: pageOf(page) };
    const { rows, total } = await listUsers(app, caller, search);
    return { users: rows.map(userToProto), totalCount: total };
  },

  setUserSuspended: async ({ id, suspended }, { caller }) => ({
    user: userToProto(await setUserRights(app, caller, { id: userId(id), suspended })),
  }),

  setUserAdministrator: async ({ id, administrator }, { caller }) => ({
    user: userToProto(await setUserRights(app, caller, { id: userId(id), administrator })),
  }),

  deleteUser: ({ id }, { caller }) => deleteUser(app, caller, userId(id)),

  batchGetUsers: async ({ ids }, { caller }) => ({
    users: (await batchGetUsers(app, caller, idsIn("user", ids))).map(userToProto),
  }),

  batchListOrganizationOwners: async ({ organizationIds }, { caller }) => {
    const owners = await batchListOrganizationOwners(app, caller, idsIn("org", organizationIds));
    return {
      owners: owners.map(({ organizationId, ...user }) => ({
        organizationId,
        user: userToProto(user),
      })),
    };
  },
});

const userToProto = ({
  createdAt,
  unconfirmedEmail,
  ...user
}: UserView): MessageInitShape<typeof UserSchema> => ({
  ...user,
  unconfirmedEmail: unconfirmedEmail ?? undefined,
  createdAt: timestampFromDate(createdAt),
});
