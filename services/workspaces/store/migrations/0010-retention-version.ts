import type { SqlMigration } from "@statehouse/postgres";

/** Grows with every change of a policy or a plan, so that state knows answers that are too old. */
export const retentionVersion: SqlMigration = {
  name: "0010_retention_version",
  up: `
    alter table general_settings add column retention_version bigint not null default 0;
  `,
};
