/**
 * Removes null from the field types. At run time messages accept null as an absent field, although their types do not
 * allow it; removing the values would cost a copy of each object.
 */
export const nullIsAbsent = <Fields extends object>(fields: Fields) =>
  fields as { [Name in keyof Fields]: Exclude<Fields[Name], null> };

/** Returns those of the settings `removable` that a request removes, each with the value null. */
export const removedSettings = <Name extends string>(
  removable: readonly Name[],
  unset: readonly string[],
) =>
  Object.fromEntries(
    removable.filter((name) => unset.includes(name)).map((name) => [name, null]),
  ) as { [Removed in Name]?: null };
