import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { hashOfBatch, type Key, NO_PREVIOUS, type SignedHead, signHead } from "./chain.ts";
import { addressDigest } from "./record.ts";
import { digestOfRecord } from "./record-digest.ts";
import { createChainCheck, headKey, type StoredBatch, type StoredRecord } from "./verify.ts";

const organization = "org-a";
const place = { service: "state", organization };
const keptSince = new Date("2026-01-01T00:00:00Z");

function newKey(kid: string): { own: Key; published: Key } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    own: { ...privateKey.export({ format: "jwk" }), kid },
    published: { ...publicKey.export({ format: "jwk" }), kid },
  };
}
const key = newKey("k1");

const salt = Buffer.from("salt");
const record = (id: string, position: number, more: Partial<StoredRecord> = {}): StoredRecord => ({
  recordedAt: `2026-02-03T04:05:06.${String(position).padStart(6, "0")}Z`,
  id,
  organization,
  actorType: "user",
  actorId: "user-a",
  tokenId: "at-a",
  address: "192.0.2.7",
  addressSalt: salt,
  addressDigest: addressDigest(salt, "192.0.2.7"),
  action: "workspace.lock",
  resourceType: "workspace",
  resourceId: "ws-a",
  changedAttributes: [],
  outcome: "succeeded",
  code: null,
  attempts: 1,
  requestId: "1234",
  position,
  ...more,
});

interface ChainedBatch {
  batch: StoredBatch;
  records: StoredRecord[];
}

/** Seals each element of `batches` as one batch of a chain. */
function chainOf(
  batches: readonly (readonly StoredRecord[])[],
  signing: Key = key.own,
): ChainedBatch[] {
  let previousHash: Uint8Array = NO_PREVIOUS;
  return batches.map((records, index) => {
    const number = index + 1;
    const recordDigests = Buffer.concat(records.map(digestOfRecord));
    const hash = hashOfBatch({ ...place, number, previousHash }, recordDigests);
    const sealedAt = new Date(records.at(-1)?.recordedAt ?? keptSince).toISOString();
    const head = {
      ...place,
      number,
      records: records.length,
      sealedAt,
      hash: hash.toString("hex"),
    };
    const batch = { ...signHead(head, signing), previousHash, recordDigests };
    previousHash = hash;
    return { batch, records: [...records] };
  });
}

const three = () =>
  chainOf([[record("ae-1", 0), record("ae-2", 1)], [record("ae-3", 0)], [record("ae-4", 0)]]);

function check(
  chain: readonly ChainedBatch[],
  {
    kept = [],
    keys = { state: [key.published] },
  }: { kept?: SignedHead[]; keys?: Record<string, Key[]> } = {},
) {
  const findings: string[] = [];
  const heads = new Map(kept.map((head) => [headKey(head), head]));
  const options = { service: "state", keys, heads, keptSince };
  const checking = createChainCheck(organization, options, (finding) => findings.push(finding));
  for (const { batch, records } of chain) checking.add(batch, records);
  return { findings, verified: checking.end() };
}

test("a chain is valid, also compared with heads that were kept outside", () => {
  const chain = three();
  const kept = chain.map(({ batch }) => batch);
  expect(check(chain, { kept })).toEqual({
    findings: [],
    verified: { organization, batches: 3, records: 4, withoutRecords: 0, unknownKeys: 0, last: 3 },
  });
});

test.each([
  ["actorId", "user-b"],
  ["action", "workspace.unlock"],
  ["recordedAt", "2026-02-03T04:05:06.000009Z"],
  ["changedAttributes", ["name"]],
  ["code", "conflict"],
  ["attempts", 2],
  ["addressDigest", addressDigest(salt, "192.0.2.8")],
  ["requestId", null],
])("a record whose %s was edited is named", (member, value) => {
  const [first, ...rest] = three();
  if (!first) throw new Error("no batch");
  const records = first.records.map((one) =>
    one.id === "ae-2" ? { ...one, [member]: value } : one,
  );
  expect(check([{ ...first, records }, ...rest]).findings).toEqual([
    "Record ae-2 in batch 1 of org-a was edited.",
  ]);
});

test("an edited address is found; a removed one is not a finding", () => {
  const edited = chainOf([[record("ae-1", 0)]]).map(({ batch, records }) => ({
    batch,
    records: records.map((one) => ({ ...one, address: "192.0.2.8" })),
  }));
  expect(check(edited).findings).toEqual([
    "The address of record ae-1 in batch 1 of org-a was edited.",
  ]);
  const removed = edited.map(({ batch, records }) => ({
    batch,
    records: records.map((one) => ({ ...one, address: null, addressSalt: null })),
  }));
  expect(check(removed).findings).toEqual([]);
});

test("deleted and added records are named", () => {
  const chain = three();
  chain[0]?.records.shift();
  chain[1]?.records.push(record("ae-9", 1));
  expect(check(chain).findings).toEqual([
    "Record 1 of 2 in batch 1 of org-a was deleted.",
    "Record ae-9 was added to batch 2 of org-a after it was sealed.",
  ]);
});

const old = record("ae-1", 0, { recordedAt: "2025-12-31T00:00:00.000000Z" });

test("records may be missing only if retention deletes them at this age", () => {
  const chain = chainOf([[old], [record("ae-2", 0)], [record("ae-3", 0)]]).map((link, index) =>
    index < 2 ? { ...link, records: [] } : link,
  );
  const { findings, verified } = check(chain);
  expect(verified).toMatchObject({ batches: 3, records: 1, withoutRecords: 1 });
  expect(findings).toEqual(["All 1 records of batch 2 of org-a were deleted."]);
});

test("a chain that begins at an anchor is valid; a missing batch is found", () => {
  const [, anchor, ...rest] = chainOf([[old], [old], [record("ae-2", 0)]]);
  if (!anchor) throw new Error("no batch");
  expect(check([{ ...anchor, records: [] }, ...rest]).findings).toEqual([]);
  expect(check(three().slice(1)).findings).toEqual(["Batch 1 of org-a is missing."]);
  expect(check(three().filter(({ batch }) => batch.number !== 2)).findings).toEqual([
    "Batch 2 of org-a is missing.",
  ]);
});

test("batches at the beginning may be missing only if their kept heads are old enough", () => {
  const chain = chainOf([[old], [record("ae-2", 0)], [record("ae-3", 0)], [record("ae-4", 0)]]);
  const kept = chain.map(({ batch }) => batch);
  expect(check(chain.slice(2), { kept }).findings).toEqual([
    "Batch 2 of org-a is missing.",
    "Batch 2 of org-a was sealed, but is missing.",
  ]);
  const [, , third, fourth] = chain;
  if (!third || !fourth) throw new Error("no batch");
  const aged = { ...third.batch, sealedAt: "2025-12-31T00:00:00.000Z", keyId: "removed" };
  expect(check([{ batch: aged, records: [] }, fourth], { kept }).findings).toEqual([
    "Batch 2 of org-a is missing.",
    "All 1 records of batch 3 of org-a were deleted.",
    "Batch 2 of org-a was sealed, but is missing.",
  ]);
});

test("a chain that was recomputed without the key has invalid signatures", () => {
  const [first, ...rest] = three();
  if (!first) throw new Error("no batch");
  const edited = [record("ae-1", 0, { actorId: "user-b" }), record("ae-2", 1)];
  const recomputed = chainOf([edited, ...rest.map(({ records }) => records)]).map(
    ({ batch, records }, index) => ({
      batch: { ...batch, signature: three()[index]?.batch.signature ?? "" },
      records,
    }),
  );
  expect(check(recomputed).findings).toEqual(
    [1, 2, 3].map((number) => `The signature of batch ${number} of org-a is invalid.`),
  );
});

test("a chain that was recomputed with the key differs from the heads that were kept outside", () => {
  const kept = three().map(({ batch }) => batch);
  const recomputed = chainOf([
    [record("ae-1", 0, { actorId: "user-b" }), record("ae-2", 1)],
    [record("ae-3", 0)],
  ]);
  expect(check(recomputed).findings).toEqual([]);
  expect(check(recomputed, { kept }).findings).toEqual([
    "Batch 1 of org-a differs from its head that was kept outside the database: the chain was recomputed.",
    "Batch 2 of org-a differs from its head that was kept outside the database: the chain was recomputed.",
    "Batch 3 of org-a was sealed, but is missing.",
  ]);
});

test("a batch that was replaced does not continue the previous one", () => {
  const [first, second] = three();
  const other = chainOf([[record("ae-7", 0)], [record("ae-3", 0)]])[1];
  if (!first || !second || !other) throw new Error("no batch");
  expect(check([first, other]).findings).toEqual(["Batch 2 of org-a does not continue batch 1."]);
});

test("a removed signing key is accepted for all but the latest batch", () => {
  const [first, ...rest] = three();
  const removed = chainOf([first?.records ?? []], newKey("k0").own);
  const chain = [...removed, ...rest];
  expect(check(chain)).toMatchObject({ findings: [], verified: { unknownKeys: 1 } });
  expect(check(removed).findings).toEqual([
    "The latest, batch 1 of org-a, is signed with a key that ASSERTION_PUBLIC_KEYS does not contain.",
  ]);
});
