/** A row as PostgreSQL returns it: the version is a number. */
export type WithNumericVersion<Row extends { version: bigint }> = Omit<Row, "version"> & {
  version: number;
};

/** Converts the version of a row. */
export const withVersion = <Row extends { version: number }>(row: Row) => ({
  ...row,
  version: BigInt(row.version),
});
