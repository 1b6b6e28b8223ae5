// Makes the calls of a typical use with a client whose types are generated from the OpenAPI document.
// ../typed-client.test.ts compiles and runs it with the address of a Statehouse and a token.
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

export async function walk(baseUrl: string, token: string): Promise<string[]> {
  const client = createClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.api+json" },
  });
  const done: string[] = [];

  const organizationName = `typed-${Date.now()}`;
  const organization = await client.POST("/api/v2/organizations", {
    body: {
      data: {
        type: "organizations",
        attributes: { name: organizationName, email: "typed@example.com" },
      },
    },
  });
  if (!organization.data) throw new Error(organization.error.errors[0]?.detail);
  done.push(organization.data.data.attributes.name);

  const workspace = await client.POST("/api/v2/organizations/{organizationName}/workspaces", {
    params: { path: { organizationName } },
    body: { data: { type: "workspaces", attributes: { name: "typed", "auto-apply": true } } },
  });
  if (!workspace.data) throw new Error(workspace.error.errors[0]?.detail);
  const { id: workspaceId, attributes } = workspace.data.data;
  const applies: boolean = attributes["auto-apply"];
  done.push(`${attributes.name} ${applies}`);

  const path = { workspaceId };
  const locked = await client.POST("/api/v2/workspaces/{workspaceId}/actions/lock", {
    params: { path },
    body: { reason: "typed" },
  });
  done.push(`locked ${locked.data?.data.attributes.locked}`);

  const again = await client.POST("/api/v2/workspaces/{workspaceId}/actions/lock", {
    params: { path },
    body: {},
  });
  done.push(`${again.response.status} ${again.error?.errors[0]?.code}`);

  const unlocked = await client.POST("/api/v2/workspaces/{workspaceId}/actions/unlock", {
    params: { path },
  });
  done.push(`locked ${unlocked.data?.data.attributes.locked}`);

  const listed = await client.GET("/api/v2/organizations/{organizationName}/workspaces", {
    params: { path: { organizationName }, query: { "page[size]": 5, include: ["project"] } },
  });
  const [included] = listed.data?.included ?? [];
  done.push(`${listed.data?.meta.pagination["total-count"]} ${included?.type}`);

  const deleted = await client.DELETE("/api/v2/workspaces/{workspaceId}", { params: { path } });
  done.push(String(deleted.response.status));
  return done;
}
