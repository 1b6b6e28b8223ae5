/** How a call ended: "accepted", or the kind and reason of what it was refused with. */
export const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "accepted",
    (error: { kind: string; reason: string }) => `${error.kind} ${error.reason}`,
  );
