/** Returns `values` without its undefined members. In an update message an absent field keeps its value. */
export const omitUndefined = <T extends object>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
