import { hint, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import {
  OrganizationDeletedSchema,
  OrganizationUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { App } from "../app.ts";
import { refreshOrganizationBilling } from "./app.ts";

const idOf = ({ organizationId }: { organizationId: string }) => parseId("org", organizationId);

/** Stores how organizations are billed, because documents of state versions depend on it. */
export const organizationProjection = (app: App) =>
  projection({
    hints: { ...hint(OrganizationUpdatedSchema, idOf), ...hint(OrganizationDeletedSchema, idOf) },
    refresh: (ids) => refreshOrganizationBilling(app, ids),
  });
