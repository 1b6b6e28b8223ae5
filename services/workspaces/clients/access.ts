import { isNotFound } from "@statehouse/errors";
import { GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { PrincipalNameService } from "@statehouse/proto/statehouse/access/v1/principal_name";
import { type CallOptions, type Channel, createClient } from "@statehouse/rpc";
import type { AccessClient } from "../clients-app.ts";

/** Creates the client for the access service. */
export function createAccessClient(channel: Channel, identity: CallOptions): AccessClient {
  const organizations = createClient(OrganizationAccessService, channel, identity);
  const names = createClient(PrincipalNameService, channel, identity);
  const grants = createClient(GrantsService, channel, identity);
  return {
    async provisionOrganization(organization) {
      await organizations.provisionOrganization(organization);
    },
    async setOrganizationSettings(settings) {
      await organizations.setOrganizationSettings(settings);
    },
    async dropOrganization(organizationId) {
      await organizations.dropOrganization({ organizationId });
    },
    async nameOf({ type, id }) {
      // Runs have no names.
      if (type === "run") return undefined;
      try {
        return (await names.getPrincipalName({ type, id })).name;
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async batchCheckActions(checks) {
      const { allowed } = await grants.batchCheckActions({
        checks: checks.map(({ principal, target, actions }) => ({
          principalType: principal.type,
          principalId: principal.id,
          ...target,
          actions: [...actions],
        })),
      });
      return allowed;
    },
  };
}
