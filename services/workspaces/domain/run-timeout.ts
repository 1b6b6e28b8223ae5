import type { Problems } from "@statehouse/errors";

const DURATION = /^0*[1-9]\d{0,4}[smhd]$/;

/** The longest times that the phases of a run may take. Runners enforce them. */
export interface RunTimeouts {
  planTimeout: string;
  applyTimeout: string;
}

/** Adds a problem for each duration in a request that is invalid. */
export function checkRunTimeouts(
  timeouts: { [Name in keyof RunTimeouts]?: string | undefined },
  problems: Problems,
): void {
  for (const [field, name] of [
    ["planTimeout", "Plan timeout"],
    ["applyTimeout", "Apply timeout"],
  ] as const) {
    const value = timeouts[field];
    if (value === undefined || DURATION.test(value)) continue;
    problems.add(field, `${name} is invalid; expected a number above 0 and a unit s, m, h or d`);
  }
}
