let calls = 0;

/** Returns the number of calls from this process to other services, including calls to services in the same process. */
export const callCount = (): number => calls;

export const countCall = (): void => {
  calls++;
};
