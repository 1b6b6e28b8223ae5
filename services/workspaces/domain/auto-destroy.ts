import type { Problems } from "@statehouse/errors";

/** When a workspace's next destroy run is due, and the settings that determine it. */
export interface AutoDestroy {
  /** Null if no destroy run is scheduled. */
  autoDestroyAt: Date | null;
  /** Time after the last activity, for example `14d` or `6h`; null if the time is fixed or there is none. */
  autoDestroyActivityDuration: string | null;
  /** Whether the project's settings apply; false if the workspace has settings of its own. */
  inheritsProjectAutoDestroy: boolean;
}

export const noAutoDestroy: AutoDestroy = {
  autoDestroyAt: null,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
};

/** The values in a request; null removes a value. */
export interface AutoDestroySettings {
  /** A timestamp. */
  autoDestroyAt?: string | null | undefined;
  autoDestroyActivityDuration?: string | null | undefined;
  /** Only false has an effect, and only if the workspace has no settings of its own. */
  inheritsProjectAutoDestroy?: boolean | undefined;
}

const DURATION = /^(\d{1,4})([dh])$/;
const HOUR_MS = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS };
const durationText =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";
// Only RFC 3339 is accepted; Date accepts other formats that clients read differently.
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** The duration in ms; undefined if the text is invalid. */
export function durationMs(text: string): number | undefined {
  const [, digits = "0", unit = ""] = DURATION.exec(text) ?? [];
  return Number(digits) * (unitMs[unit] ?? 0) || undefined;
}

/** Applies settings; adds every problem to `problems`. */
export function applyAutoDestroy(
  workspace: AutoDestroy,
  {
    autoDestroyAt: at,
    autoDestroyActivityDuration: duration,
    inheritsProjectAutoDestroy: inherits,
  }: AutoDestroySettings,
  problems: Problems,
  now: Date,
): void {
  if (duration !== undefined) {
    if (duration !== null && durationMs(duration) === undefined) {
      problems.add("autoDestroyActivityDuration", durationText);
    } else {
      const before = workspace.autoDestroyActivityDuration;
      workspace.autoDestroyActivityDuration = duration;
      // Also clears the computed time; a new duration starts now.
      if (duration === null && before !== null) workspace.autoDestroyAt = null;
      if (duration !== null && duration !== before) noteActivity(workspace, now);
    }
  }
  if (at !== undefined) {
    const moment = at === null ? null : momentOf(at);
    if (moment === undefined) problems.add("autoDestroyAt", "Auto destroy at is invalid");
    else workspace.autoDestroyAt = moment;
  }
  if (at === undefined && duration === undefined && inherits === undefined) return;
  workspace.inheritsProjectAutoDestroy = inherits !== false && !hasOwnAutoDestroy(workspace);
}

const hasOwnAutoDestroy = ({ autoDestroyAt, autoDestroyActivityDuration }: AutoDestroy): boolean =>
  autoDestroyAt !== null || autoDestroyActivityDuration !== null;

/** Records activity on the workspace: the duration starts again. */
export function noteActivity(workspace: AutoDestroy, now: Date): void {
  const { autoDestroyActivityDuration: duration } = workspace;
  const ms = duration === null ? undefined : durationMs(duration);
  if (ms !== undefined) workspace.autoDestroyAt = new Date(now.getTime() + ms);
}

/** Ends the schedule if it is due, and returns its time; undefined if it is not. */
export function takeDueMoment(workspace: AutoDestroy, now: Date): Date | undefined {
  const { autoDestroyAt: dueAt } = workspace;
  if (dueAt === null || dueAt > now) return undefined;
  // The destroy run is due and no longer scheduled; a runner may start it.
  workspace.autoDestroyAt = null;
  workspace.inheritsProjectAutoDestroy = !hasOwnAutoDestroy(workspace);
  return dueAt;
}

// Neither the database nor events can represent a later time.
const EARLIEST = Date.UTC(1970);
const LATEST = Date.UTC(10_000) - 1;

function momentOf(text: string): Date | undefined {
  const [, day] = TIMESTAMP.exec(text) ?? [];
  // Date reads February 31 as a day in March.
  if (day === undefined || !isDay(day)) return undefined;
  const moment = new Date(text);
  const time = moment.getTime();
  return time >= EARLIEST && time <= LATEST ? moment : undefined;
}

const isDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};
