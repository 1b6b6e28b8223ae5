export type EditionName = "self-hosted" | "hosted";

/**
 * For each feature, the editions that have it. Every difference between editions is a row of this table; code refers to
 * the row by its name.
 */
export const editionTable = {
  "header.snapshot-interval": ["hosted"],
  "state-versions.intermediate": ["hosted"],
  "state-versions.backing-data-actions": ["self-hosted"],
  "data-retention-policies": ["self-hosted"],
  "free-tier.state-retention": ["hosted"],
  "workspaces.assessments-enabled": ["hosted"],
  "admin.general-settings": ["self-hosted"],
} as const satisfies Record<string, readonly EditionName[]>;

/** Values that differ by edition. */
export const editionValues = {
  /** The value of the `TFP-AppName` header, which changes the behaviour of clients. */
  "app-name": { "self-hosted": "Terraform Enterprise", hosted: "HCP Terraform" },
} as const satisfies Record<string, Record<EditionName, string>>;

export type Feature = keyof typeof editionTable;

export interface Edition {
  readonly name: EditionName;
  has(feature: Feature): boolean;
  value(of: keyof typeof editionValues): string;
}

/** Returns the edition called `name`. */
export function edition(name: EditionName): Edition {
  return {
    name,
    has: (feature) => {
      const editions: readonly EditionName[] = editionTable[feature];
      return editions.includes(name);
    },
    value: (of) => editionValues[of][name],
  };
}
