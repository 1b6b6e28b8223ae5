import type { PageInput } from "@statehouse/postgres";

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;

interface PageFields {
  pageNumber: number;
  pageSize: number;
}

/** What the gateway asks for; absent numbers have their defaults. */
export const pageOf = ({ pageNumber, pageSize }: PageFields): PageInput => ({
  number: pageNumber || 1,
  size: Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE),
});
