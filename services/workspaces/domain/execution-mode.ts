/** Where runs of a workspace are executed; `local` means state storage only. */
export const executionModes = ["remote", "local", "agent"] as const;

export type ExecutionMode = (typeof executionModes)[number];

/** Narrows a text that came from outside. */
export const isExecutionMode = (mode: string): mode is ExecutionMode =>
  executionModes.some((known) => known === mode);
