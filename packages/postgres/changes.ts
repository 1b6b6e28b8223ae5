import { ChangeSetType, type EventSubscriber } from "@mikro-orm/core";

const changes = new WeakMap<object, Set<string>>();

/** Notes which properties of loaded rows each flush writes. Embedded values and new rows are not noted. */
export const changeRecorder: EventSubscriber = {
  onFlush({ uow }) {
    for (const { entity, meta, payload, type } of uow.getChangeSets()) {
      if (type !== ChangeSetType.UPDATE) continue;
      const known = changes.get(entity) ?? new Set();
      for (const name of Object.keys(payload)) {
        const property = meta.props.find((candidate) => candidate.name === name);
        if (property?.kind === "scalar" && !property.embedded) known.add(name);
      }
      changes.set(entity, known);
    }
  },
};

/** Notes a change that the row's own columns do not contain, for example a change of rows that refer to it. */
export function noteChange(row: object, name: string): void {
  changes.set(row, (changes.get(row) ?? new Set()).add(name));
}

/** Returns the names of the row's properties that flushes have written, and those that `noteChange` has added. */
export const changedProperties = (row: object): readonly string[] => [...(changes.get(row) ?? [])];
