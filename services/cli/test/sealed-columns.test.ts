import { service as access } from "@statehouse/access/service";
import { freshDatabase } from "@statehouse/postgres/testing";
import { service as state } from "@statehouse/state/service";
import { service as workspaces } from "@statehouse/workspaces/service";
import { expect, test } from "vitest";

test.each([access, workspaces, state])(
  "rotate-keys knows every sealed column of $name",
  async ({ name: contextName, migrations, sealedColumns }) => {
    await using fresh = await freshDatabase({ contextName, migrations });
    const found = await fresh.query<{ place: string }>(
      `select table_name || '.' || column_name as place from information_schema.columns
       where table_schema = 'public' and column_name like '%sealed%' and data_type = 'text'
       order by 1`,
    );
    expect(sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
      found.map(({ place }) => place),
    );
  },
);
