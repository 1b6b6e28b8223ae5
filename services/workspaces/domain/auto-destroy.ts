import type { Problems } from "@statehouse/errors";

/** When a workspace's next destroy run is due, and what moves that moment. */
export interface AutoDestroy {
  /** Null: never. */
  autoDestroyAt: Date | null;
  /** So long after the last activity, such as `14d` or `6h`; null: a fixed moment, or never. */
  autoDestroyActivityDuration: string | null;
  /** The project's settings apply; false while the workspace has settings of its own. */
  inheritsProjectAutoDestroy: boolean;
}

export const noAutoDestroy: AutoDestroy = {
  autoDestroyAt: null,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
};

/** What a request says; null unsets. */
export interface AutoDestroySettings {
  /** A timestamp. */
  autoDestroyAt?: string | null | undefined;
  autoDestroyActivityDuration?: string | null | undefined;
  /** Only false matters, and only without settings of its own. */
  inheritsProjectAutoDestroy?: boolean | undefined;
}

const DURATION = /^(\d{1,4})([dh])$/;
const HOUR_MS = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS };
const durationText =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";
// RFC 3339; what else Date understands, others would read otherwise.
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** A duration in ms; undefined when it is none. */
export function durationMs(text: string): number | undefined {
  const [, digits = "0", unit = ""] = DURATION.exec(text) ?? [];
  return Number(digits) * (unitMs[unit] ?? 0) || undefined;
}

/** Applies settings; `problems` gets whatever is wrong with them, all at once. */
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
      // The time that it counted to goes with it; a new one counts from now.
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

/** Something was done with the workspace: its time counts anew. */
export function noteActivity(workspace: AutoDestroy, now: Date): void {
  const { autoDestroyActivityDuration: duration } = workspace;
  const ms = duration === null ? undefined : durationMs(duration);
  if (ms !== undefined) workspace.autoDestroyAt = new Date(now.getTime() + ms);
}

/** Ends the schedule if its moment has come, and says which that was; undefined when it has not. */
export function takeDueMoment(workspace: AutoDestroy, now: Date): Date | undefined {
  const { autoDestroyAt: dueAt } = workspace;
  if (dueAt === null || dueAt > now) return undefined;
  // The next destroy run is no longer scheduled: it is up to a runner now.
  workspace.autoDestroyAt = null;
  workspace.inheritsProjectAutoDestroy = !hasOwnAutoDestroy(workspace);
  return dueAt;
}

// Beyond, neither the database nor the events have a form for them.
const EARLIEST = Date.UTC(1970);
const LATEST = Date.UTC(10_000) - 1;

function momentOf(text: string): Date | undefined {
  const [, day] = TIMESTAMP.exec(text) ?? [];
  // Date takes the 31st of February for a day in March.
  if (day === undefined || !isDay(day)) return undefined;
  const moment = new Date(text);
  const time = moment.getTime();
  return time >= EARLIEST && time <= LATEST ? moment : undefined;
}

const isDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};
