import type { DescService } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { Caller } from "../http/authentication.ts";
import type { ClientFactory } from "../http/clients.ts";
import { readAuditTrail } from "./merge-routes.ts";

const MICROS = 1_000_000;
const START = 1_790_000_000 * MICROS;

interface Stored {
  id: string;
  at: number;
}

const timestamp = (micros: number) => ({
  seconds: BigInt(Math.floor(micros / MICROS)),
  nanos: (micros % MICROS) * 1000,
});
const micros = ({ seconds, nanos }: { seconds: bigint; nanos: number }) =>
  Number(seconds) * MICROS + nanos / 1000;

interface Request {
  since: { seconds: bigint; nanos: number };
  until: { seconds: bigint; nanos: number };
  intervalSeconds: number;
  limit: number;
  offset: number;
}

/** Creates clients of stub services, each with its own list of records. */
function servicesWith(records: Readonly<Record<string, Stored[]>>, completeUntil: () => number) {
  const within = (name: string, { since, until }: Request) =>
    (records[name] ?? [])
      .filter(({ at }) => at >= micros(since) && at < micros(until))
      .toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
  const client = (_: DescService, name = "") => ({
    beginReading: async () => ({
      organizationId: "org-1",
      completeUntil: timestamp(completeUntil()),
    }),
    async countAuditRecords(request: Request) {
      const length = request.intervalSeconds * MICROS;
      const intervals = Map.groupBy(
        within(name, request),
        ({ at }) => Math.floor(at / length) * length,
      );
      return {
        intervals: [...intervals].map(([start, { length: count }]) => ({
          start: timestamp(start),
          count,
        })),
      };
    },
    listAuditRecords: async (request: Request) => ({
      records: within(name, request)
        .slice(request.offset, request.offset + request.limit)
        .map(({ id, at }) => ({ id, recordedAt: timestamp(at) })),
    }),
  });
  return client as unknown as ClientFactory;
}

const page = async (client: ClientFactory, number: number, size: number, after = 0) => {
  const caller = {} as unknown as Caller;
  const request = {
    client,
    caller,
    organizationId: "",
    after,
    page: { pageNumber: number, pageSize: size },
  };
  const { records, totalCount } = await readAuditTrail(request);
  return { ids: records.map(({ id }) => id), totalCount };
};

/** Returns records of three services: some in the same microsecond, many in one second, others hours apart. */
function manyRecords() {
  const records: Record<string, Stored[]> = { access: [], workspaces: [], state: [] };
  const names = Object.keys(records);
  for (let number = 0; number < 4000; number++) {
    const name = names[(number * 7) % 3] ?? "";
    const at =
      number < 3000 ? START + Math.floor(number / 2) : START + (number - 2999) * 1800 * MICROS;
    records[name]?.push({ id: `ae-${String((number * 7919) % 4000).padStart(4, "0")}`, at });
  }
  const inOrder = Object.values(records)
    .flat()
    .toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
  return { records, inOrder };
}

test.each([7, 100, 1500])(
  "pages of %s contain each record of all services once, in order",
  async (size) => {
    const { records, inOrder } = manyRecords();
    const client = servicesWith(records, () => Number.MAX_SAFE_INTEGER);
    const expected = inOrder.map(({ id }) => id);
    const starts = [1, 2, 3, Math.ceil(3000 / size), Math.ceil(4000 / size)];
    for (const number of starts) {
      expect(await page(client, number, size)).toEqual({
        ids: expected.slice((number - 1) * size, number * size),
        totalCount: 4000,
      });
    }
    expect(await page(client, Math.ceil(4000 / size) + 1, size)).toMatchObject({ ids: [] });
  },
);

test("only records after the given microsecond are listed", async () => {
  const { records, inOrder } = manyRecords();
  const client = servicesWith(records, () => Number.MAX_SAFE_INTEGER);
  const after = START + 700;
  const later = inOrder.filter(({ at }) => at > after).map(({ id }) => id);
  expect(await page(client, 1, 20, after)).toEqual({
    ids: later.slice(0, 20),
    totalCount: later.length,
  });
});

test("records after the time up to which all services are complete are not listed", async () => {
  const { records, inOrder } = manyRecords();
  let calls = 0;
  const until = START + 500;
  const client = servicesWith(records, () => (calls++ === 1 ? until : Number.MAX_SAFE_INTEGER));
  const { totalCount } = await page(client, 1, 20);
  expect(totalCount).toBe(inOrder.filter(({ at }) => at < until).length);
});
