import { inWords, type Problems } from "@statehouse/errors";

/** At most four leading zeros are accepted: the text is stored and sent to every runner, so it must stay short. */
const DURATION = /^0{0,4}[1-9]\d{0,4}[smhd]$/;

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
  for (const field of ["planTimeout", "applyTimeout"] as const) {
    const value = timeouts[field];
    if (value === undefined || DURATION.test(value)) continue;
    const expected = "a number from 1 to 99999 and a unit s, m, h or d";
    problems.add(field, `${inWords(field)} is invalid; expected ${expected}`);
  }
}
