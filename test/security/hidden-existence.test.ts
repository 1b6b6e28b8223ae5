import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { costOf } from "../stack/request-cost.ts";
import { startStack } from "../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { newWorkspace, useStack } from "../system/fixture.ts";

// Attack: a user without access measures whether something exists that it may not see. The 404 of an object that exists
// was sent only when the audit record of the attempt was committed, so the median of 15 requests showed the difference.

const fixture = useStack(() => startStack({ blobs: "directory" }));

const services = ["access", "workspaces", "state"] as const;

const names = [
  "an organization",
  "a workspace",
  "a workspace by its name",
  "a workspace's name in a foreign organization",
  "a state version",
  "the bytes of a state version",
] as const;

test.each(names)(
  "the 404 of %s takes the same calls and statements if it does not exist",
  async (name) => {
    const { stack, owner, outsider, reader, organization, url } = fixture();
    const workspace = await newWorkspace(fixture());
    const shown = await expectStatus(200, owner.api.get(`/workspaces/${workspace.id}`));
    const workspaceName = shown.body.data.attributes.name;
    const version = await expectStatus(201, writeState(owner.api, workspace.id, stateFile()));
    const { id } = version.body.data;
    const absent = (present: string) => `${present.slice(0, -8)}AAAAAAAA`;
    const [asks, hidden, missing] = {
      "an organization": [outsider, `/organizations/${organization}`, "/organizations/absent"],
      "a workspace": [
        outsider,
        `/workspaces/${workspace.id}`,
        `/workspaces/${absent(workspace.id)}`,
      ],
      "a workspace by its name": [
        reader,
        `/organizations/${organization}/workspaces/${workspaceName}`,
        `/organizations/${organization}/workspaces/absent`,
      ],
      "a workspace's name in a foreign organization": [
        outsider,
        `/organizations/${organization}/workspaces/${workspaceName}`,
        `/organizations/${organization}/workspaces/absent`,
      ],
      "a state version": [outsider, `/state-versions/${id}`, `/state-versions/${absent(id)}`],
      "the bytes of a state version": [outsider, `/v1/object/${id}`, `/v1/object/${absent(id)}`],
    }[name] as [typeof outsider, string, string];
    const send = async (path: string) => {
      if (!path.startsWith("/v1/")) return void (await expectStatus(404, asks.api.get(path)));
      const answer = await fetch(`${url}${path}`, {
        headers: { authorization: `Bearer ${asks.token}` },
      });
      await answer.arrayBuffer();
      expect(answer.status).toBe(404);
    };
    const rename = async (from: string, to: string) => {
      for (const service of services)
        await stack.rows(service, `alter table ${from} rename to ${to}`);
    };
    // No attempt can be written meanwhile, so a response that waited for the record would be 503.
    await rename("audit_attempts", "away");
    try {
      const ofHidden = await costOf(() => send(hidden));
      expect(ofHidden).toEqual(await costOf(() => send(missing)));
    } finally {
      await rename("away", "audit_attempts");
    }
    await waitFor(async () => {
      const rows = await Promise.all(
        services.map((service) =>
          stack.rows(
            service,
            `select actor_id from audit_attempts where actor_id = $1
           union all select actor_id from audit_records where actor_id = $1 and outcome = 'refused'`,
            [asks.id],
          ),
        ),
      );
      return rows.flat().length > 0;
    });
  },
);
