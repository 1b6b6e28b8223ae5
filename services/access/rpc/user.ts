import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { UserSchema, UserService } from "@statehouse/proto/statehouse/access/v1/user";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { batchGetUsers, createUser, getCurrentUser, getUserByName } from "../app/user.ts";
import { readUserIds } from "../domain/ids.ts";
import type { User } from "../domain/user.ts";
import type { Context } from "./context.ts";

export const userService = (app: App): ServiceImpl<typeof UserService, Context> => ({
  createUser: async ({ username, email, administrator }) => ({
    user: userToProto(await createUser(app, { username, email, administrator })),
  }),

  getUserByName: async ({ username }) => ({
    user: userToProto(await getUserByName(app, username)),
  }),

  getCurrentUser: async (_, { caller }) => ({
    user: userToProto(await getCurrentUser(app, caller)),
  }),

  batchGetUsers: async ({ ids }, { caller }) => ({
    users: (await batchGetUsers(app, caller, readUserIds(ids))).map(userToProto),
  }),
});

const userToProto = (user: User): MessageInitShape<typeof UserSchema> => ({
  id: user.id,
  username: user.username,
  email: user.email,
  administrator: user.administrator,
  suspended: user.suspended,
  createdAt: timestampFromDate(user.createdAt),
});
