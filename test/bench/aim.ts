import { print } from "./table.ts";

/** The targets for the measured values. */
export interface Aim {
  what: string;
  aim: string;
  got: string;
  met: boolean;
}

/** The minimum of a ratio. */
export const atLeast = (what: string, aim: number, got: number): Aim => ({
  what,
  aim: `≥ ${aim}`,
  got: got.toFixed(2),
  met: got >= aim,
});

/** The maximum of a count. */
export const atMost = (what: string, aim: number, got: number, unit = ""): Aim => ({
  what,
  aim: `≤ ${aim}${unit}`,
  got: `${Math.round(got)}${unit}`,
  met: got <= aim,
});

/** A section that produced no value. */
export const failed = (what: string, error: unknown): Aim => ({
  what,
  aim: "a figure",
  got: `failed, ${error instanceof Error ? error.message : error}`,
  met: false,
});

/** Prints for each target whether it is met. */
export function printAims(aims: readonly Aim[]): void {
  const lines = aims.map(
    ({ what, aim, got, met }) => `  ${met ? "met    " : "NOT MET"}  ${what}: ${got} (aim ${aim})`,
  );
  print("\nAims", ...lines);
}
