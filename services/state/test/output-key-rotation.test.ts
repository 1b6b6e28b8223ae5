import { randomBytes } from "node:crypto";
import { createColumnCipher, openDatabase, rotateColumnKeys } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { expect, test } from "vitest";
import type { StateVersionOutputId } from "../ids-domain.ts";
import { migrations } from "../migrations.ts";
import { createReads, entities, transactions } from "../nouns.ts";
import { newStateVersion } from "../state-version/domain.ts";
import { sealedOutputs } from "../state-version-output/store.ts";

const key = (id: string) => `${id}:${randomBytes(32).toString("base64")}`;

test("after key rotation the old key is not needed, and all values are unchanged", async () => {
  await using fresh = await freshDatabase({ contextName: "state", migrations });
  await using database = await openDatabase({
    contextName: "state",
    url: fresh.url,
    entities,
    migrations,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  const [old, current] = [key("old"), key("new")];
  const names = Array.from({ length: 1200 }, (_, index) => `o${index}`);
  await transactions(
    database,
    createColumnCipher({ keys: old }),
  )(async (tx) => {
    const { workspaceState } = await tx.stateVersions.getForCreation("ws-a", {
      ...{ epoch: 1n, serial: 1n },
    });
    workspaceState.organizationId = "org-1";
    workspaceState.projectId = "prj-1";
    const version = newStateVersion({
      id: "sv-a",
      workspaceId: "ws-a",
      position: 1n,
      lockEpoch: 1n,
      serial: 1n,
      md5: "",
      lineage: "",
      intermediate: false,
      createdAt: new Date(),
      createdByType: "user",
      createdById: "user-a",
      createdTokenId: null,
      runId: null,
      expiresAt: new Date(),
      outputsGiven: true,
    });
    tx.stateVersionOutputs.saveAll(
      version.id,
      names.map((name) => ({
        name,
        sensitive: true,
        type: "string",
        detailedTypeJson: '"string"',
        valueJson: JSON.stringify(name),
      })),
    );
    await tx.stateVersions.commit(workspaceState, version);
  });
  const both = createColumnCipher({ keys: `${current},${old}` });
  expect(await rotateColumnKeys(database, both, sealedOutputs)).toBe(1200);
  expect(await rotateColumnKeys(database, both, sealedOutputs)).toBe(0);
  const reads = createReads(database, createColumnCipher({ keys: current }));
  const ids = await database.query<{ id: StateVersionOutputId; name: string }>(
    "select id, name from state_version_outputs order by position limit 3",
  );
  for (const { id, name } of ids) {
    expect((await reads.stateVersionOutputs.get(id)).valueJson).toBe(JSON.stringify(name));
  }
});
