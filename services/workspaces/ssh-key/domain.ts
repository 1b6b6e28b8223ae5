import { notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId, SshKeyId } from "../ids-domain.ts";
import { checkName } from "../text-domain.ts";

/** An SSH key with which runners clone configurations from version control. */
export class SshKey {
  declare id: SshKeyId;
  declare organizationId: OrganizationId;
  declare name: string;
  /** The private key, encrypted and bound to this row; it is never returned to callers. */
  declare sealedValue: string;
  declare revision: bigint;
  declare createdAt: Date;
}

/** Returns the associated data that binds a sealed private key to its row. */
export const sshKeyLocation = (id: string) => ({
  table: "ssh_keys",
  column: "sealed_value",
  rowId: id,
});

export interface SshKeyInput {
  name: string | undefined;
  /** The private key; its format is not checked. */
  value: string | undefined;
}

/** Creates a key; the caller must set its name and value. */
export const newSshKey = (id: SshKeyId, organizationId: OrganizationId, now: Date): SshKey =>
  newRow(SshKey, {
    id,
    organizationId,
    name: "",
    sealedValue: "",
    revision: nextVersion(0n, now),
    createdAt: now,
  });

/** Applies the values of a request and adds violated rules to `problems`. */
export function applySshKey(
  sshKey: SshKey,
  { name, value }: SshKeyInput,
  {
    encryptColumn,
    problems,
    now,
  }: { encryptColumn(value: string): string; problems: Problems; now: Date },
): void {
  if (name !== undefined) sshKey.name = name;
  checkName(sshKey.name, problems);
  if (value === "") problems.add("value", "Value can't be blank");
  else if (value !== undefined) sshKey.sealedValue = encryptColumn(value);
  sshKey.revision = nextVersion(sshKey.revision, now);
}

export const sshKeyNotFound = () => notFound("SSH key");
