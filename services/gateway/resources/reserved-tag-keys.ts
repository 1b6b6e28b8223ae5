import type { ReservedTagKey } from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

export const reservedTagKeyResource = resource<ReservedTagKey, RequestContext>({
  type: "reserved-tag-keys",
  id: ({ id }) => id,
  attributes: ({ key, disableOverrides, createdAt, updatedAt }) => ({
    key,
    "disable-overrides": disableOverrides,
    // With underscores, as clients read these two.
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  }),
});
