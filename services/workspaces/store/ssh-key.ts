import { LockMode } from "@mikro-orm/core";
import {
  type Database,
  type EntityManager,
  offsetOf,
  type PageInput,
  resealColumn,
  type Sealer,
} from "@statehouse/postgres";
import { sshKeyNotFound } from "../domain/errors.ts";
import type { OrganizationId, SshKeyId } from "../domain/ids.ts";
import { type SshKey, sshKeyPlace } from "../domain/ssh-key.ts";
import { sshKeySchema } from "./entities.ts";

/** A key as it is shown: never what it is. */
export type SshKeyView = Pick<SshKey, "id" | "organizationId" | "name">;

const view = `select k.id, k.organization_id as "organizationId", k.name from ssh_keys k`;

/** Reads of SSH keys of active organizations, outside any transaction. */
export const sshKeyReads = (database: Database) => ({
  async find(id: SshKeyId): Promise<SshKeyView | undefined> {
    const [row] = await database.query<SshKeyView>(
      // index: ssh_keys_pkey
      `${view} join organizations o on o.id = k.organization_id
       where k.id = $1 and o.status = 'active'`,
      [id],
    );
    return row;
  },

  async page(
    organizationId: OrganizationId,
    page: PageInput,
  ): Promise<{ sshKeys: SshKeyView[]; total: number }> {
    const sshKeys = await database.query<SshKeyView>(
      // index: ssh_keys_organization
      `${view} where k.organization_id = $1 order by k.name, k.id limit $2 offset $3`,
      [organizationId, page.size, offsetOf(page)],
    );
    const [row] = await database.query<{ count: number }>(
      // index: ssh_keys_organization
      "select count(*) from ssh_keys where organization_id = $1",
      [organizationId],
    );
    return { sshKeys, total: row?.count ?? 0 };
  },
});

/** SSH keys inside a transaction. */
export const sshKeyRows = (em: EntityManager) => ({
  async getForUpdate(id: SshKeyId): Promise<SshKey> {
    const sshKey = await em.findOne(sshKeySchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!sshKey) throw sshKeyNotFound();
    return sshKey;
  },

  /** It stays until the transaction ends. */
  async getForUse(id: SshKeyId): Promise<SshKey> {
    const sshKey = await em.findOne(sshKeySchema, { id }, { lockMode: LockMode.PESSIMISTIC_READ });
    if (!sshKey) throw sshKeyNotFound();
    return sshKey;
  },

  async save(sshKey: SshKey): Promise<void> {
    em.persist(sshKey);
    await em.flush();
  },

  async remove(sshKey: SshKey): Promise<void> {
    em.remove(sshKey);
    await em.flush();
  },
});

/** Seals private keys again under the first key; answers how many. Safe to repeat. */
export const resealSshKeys = (database: Database, sealer: Sealer): Promise<number> =>
  resealColumn(database, sealer, {
    table: "ssh_keys",
    column: "sealed_value",
    placeOf: sshKeyPlace,
  });
