import { randomUUID } from "node:crypto";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { createClient, createIdentity } from "@statehouse/rpc";
import { startProcesses } from "../../stack/stack.ts";
import { contentOf } from "../bytes/content.ts";
import { startWriters } from "../state-writer.ts";
import { median } from "../statistics.ts";
import { printTable } from "../table.ts";

const WRITES = 60;
const WARM_UP = 20;

/**
 * Measures how much of an upload's duration is spent on checking the rights of the state version's creator. For this
 * check, the state service calls the access service after the last byte, to get the principal of the token that created
 * the state version. The measurement alternates uploads with such calls.
 */
export async function printUploadCheck(sizes: readonly number[]): Promise<void> {
  await using stack = await startProcesses({ settings: { LOG_LEVEL: "warn" } });
  const state = await createIdentity(
    "state",
    JSON.parse(stack.environments.state.ASSERTION_PRIVATE_KEY ?? "null"),
  );
  const access = createClient(AuthenticationService, stack.channelsOf("state").access, state);
  const [writer] = await startWriters(stack, 1);
  const [token] = await stack.rows<{ id: string }>("access", "select id from tokens");
  if (!writer || !token) return;
  const rows: (string | number)[][] = [];
  for (const bytes of sizes) {
    const content = contentOf(bytes, randomUUID());
    const uploads: number[] = [];
    const checks: number[] = [];
    for (let index = 0; index < WARM_UP + WRITES; index++) {
      const { upload } = await writer.write(content);
      const startedAt = performance.now();
      await access.authenticateTokenId({ tokenId: token.id });
      const check = performance.now() - startedAt;
      if (index < WARM_UP) continue;
      uploads.push(upload);
      checks.push(check);
    }
    const shares = uploads.map((upload, index) => (checks[index] ?? Number.NaN) / upload);
    rows.push([`${bytes / 1024} KiB`, median(uploads), median(checks), median(shares)]);
  }
  printTable(
    "    what the check of the creator's rights costs an upload, ms, one client, four processes",
    ["size", "upload", "check", "of the upload"],
    rows,
  );
}
