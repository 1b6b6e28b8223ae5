import type { TokenId } from "../ids-domain.ts";
import type { Tx } from "../nouns.ts";
import type { TokenUse } from "../token/store.ts";

/**
 * The uses of tokens that are not yet written to the database. Every request uses a token, so the uses are collected in
 * memory.
 */
export interface TokenUsage {
  note(id: TokenId, at: Date): void;
  /** Removes and returns the recorded uses. */
  drain(): TokenUse[];
}

export function createTokenUsage(): TokenUsage {
  let latest = new Map<TokenId, Date>();
  return {
    note(id, at) {
      const known = latest.get(id);
      if (!known || known < at) latest.set(id, at);
    },
    drain() {
      const uses = [...latest].map(([id, at]) => ({ id, at }));
      latest = new Map();
      return uses;
    },
  };
}

/** Writes the uses that were recorded since the last call. If writing fails, keeps them for the next call. */
export async function writeTokenUsage({
  transaction,
  tokenUsage,
}: {
  transaction(work: (tx: Tx) => Promise<void>): Promise<void>;
  tokenUsage: TokenUsage;
}): Promise<void> {
  const uses = tokenUsage.drain();
  if (uses.length === 0) return;
  try {
    await transaction((tx) => tx.tokens.recordUses(uses));
  } catch (error) {
    for (const { id, at } of uses) tokenUsage.note(id, at);
    throw error;
  }
}
