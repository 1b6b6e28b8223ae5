/** Returns `values` without its undefined members: an update message changes only the fields that it contains. */
export const omitUndefined = <T extends object>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
