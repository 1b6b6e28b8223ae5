import { print } from "./table.ts";

/** A target and the measured value. */
export interface Aim {
  what: string;
  aim: string;
  got: string;
  met: boolean;
}

/** A target for a ratio, which must be at least `aim`. */
export const atLeast = (what: string, aim: number, got: number): Aim => ({
  what,
  aim: `≥ ${aim}`,
  got: got.toFixed(2),
  met: got >= aim,
});

/** A target for a count or a ratio, which must be at most `aim`. */
export const atMost = (what: string, aim: number, got: number, unit = ""): Aim => ({
  what,
  aim: `≤ ${aim}${unit}`,
  got: `${Number.isInteger(aim) ? Math.round(got) : got.toFixed(2)}${unit}`,
  met: got <= aim,
});

/** A missed target, for a section that failed and produced no value. */
export const failed = (what: string, error: unknown): Aim => ({
  what,
  aim: "a figure",
  got: `failed, ${error instanceof Error ? error.message : error}`,
  met: false,
});

/** Prints for each target whether it was met. */
export function printAims(aims: readonly Aim[]): void {
  const lines = aims.map(
    ({ what, aim, got, met }) => `  ${met ? "met    " : "NOT MET"}  ${what}: ${got} (aim ${aim})`,
  );
  print("\nAims", ...lines);
}
