import { authorize, type Caller } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import { offsetOf } from "@statehouse/postgres";
import type { Page, PageInput } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import type { OrganizationId } from "../ids-domain.ts";
import { touch } from "../version-domain.ts";
import { applyTokenTtlPolicies, type TokenTtlPolicy, type TokenTtlPolicyInput } from "./domain.ts";
import { tokenTtlPolicyUpdated } from "./store.ts";

/** Returns the organization's token lifetime policies, one for each type of token. Throws `notFound` or `forbidden`. */
export const listTokenTtlPolicies = (
  app: App,
  caller: Caller,
  { organizationId, page }: { organizationId: OrganizationId; page: PageInput },
): Promise<Page<TokenTtlPolicy>> =>
  app.transaction(async (tx) => {
    authorize(caller, "organization:update", { organizationId });
    const policies = await tx.tokenTtlPolicies.ofOrganization(
      await tx.organizations.getForUpdate(organizationId),
    );
    const from = offsetOf(page);
    return { rows: policies.slice(from, from + page.size), total: policies.length };
  });

/**
 * Sets the maximum lifetimes that the request contains, and returns the policies of all types. The lifetimes
 * immediately apply to existing tokens too, because the organization's new version makes all cached grants obsolete.
 * Throws `notFound`, `forbidden` or `invalid`.
 */
export const updateTokenTtlPolicies = (
  app: App,
  caller: Caller,
  {
    organizationId,
    tokenTtlPolicies,
  }: { organizationId: OrganizationId; tokenTtlPolicies: readonly TokenTtlPolicyInput[] },
): Promise<TokenTtlPolicy[]> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const now = app.now();
    const policies = await tx.tokenTtlPolicies.ofOrganization(organization);
    const problems = new Problems();
    const changed = applyTokenTtlPolicies(policies, tokenTtlPolicies, { problems, now });
    problems.throwIfAny();
    for (const policy of changed) {
      // The change is noted here, because a policy without a row has no changed columns from which the change could be
      // derived.
      tx.noteChange(policy, "maxTtlMs");
      tx.tokenTtlPolicies.save(policy);
      await tx.record(tokenTtlPolicyUpdated(policy, touch(organization, now)));
    }
    return policies;
  });
