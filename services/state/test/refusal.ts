/** Returns the result of a call: "accepted", or the kind and reason of its error. */
export const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "accepted",
    (error: { kind: string; reason: string }) => `${error.kind} ${error.reason}`,
  );
