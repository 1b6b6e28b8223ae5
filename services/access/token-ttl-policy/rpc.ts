import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  TokenTtlPolicySchema,
  TokenTtlPolicyService,
} from "@statehouse/proto/statehouse/access/v1/token_ttl_policy";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { organizationId } from "../ids-rpc.ts";
import { listTokenTtlPolicies, updateTokenTtlPolicies } from "./app.ts";
import type { TokenTtlPolicy } from "./domain.ts";

export const tokenTtlPolicyService = (app: App): ServiceImpl<typeof TokenTtlPolicyService> => ({
  listTokenTtlPolicies: async (request, { caller }) => {
    const { rows, total } = await listTokenTtlPolicies(app, caller, {
      organizationId: organizationId(request.organizationId),
      page: pageOf(request),
    });
    return { tokenTtlPolicies: rows.map(policyToProto), totalCount: total };
  },

  updateTokenTtlPolicies: async ({ tokenTtlPolicies, ...request }, { caller }) => {
    const policies = await updateTokenTtlPolicies(app, caller, {
      organizationId: organizationId(request.organizationId),
      tokenTtlPolicies,
    });
    return { tokenTtlPolicies: policies.map(policyToProto) };
  },
});

const policyToProto = ({
  createdAt,
  updatedAt,
  ...policy
}: TokenTtlPolicy): MessageInitShape<typeof TokenTtlPolicySchema> => ({
  ...policy,
  id: `ttlp-${policy.organizationId.slice("org-".length)}-${policy.tokenType}`,
  createdAt: timestampFromDate(createdAt),
  updatedAt: timestampFromDate(updatedAt),
});
