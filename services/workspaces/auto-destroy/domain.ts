import type { Problems } from "@statehouse/errors";

/** The time at which a workspace's next destroy run is due, and the settings that determine this time. */
export interface AutoDestroy {
  /** Null if no destroy run is scheduled. */
  autoDestroyAt: Date | null;
  /**
   * The workspace is destroyed this long after its last activity, for example `14d` or `6h`. Null if the workspace has
   * no duration of its own: the time is fixed or inherited, or no destroy run is scheduled.
   */
  autoDestroyActivityDuration: string | null;
  /**
   * Whether the workspace uses its project's auto-destroy settings. False if it has settings of its own, or if a
   * request has set this value to false.
   */
  inheritsProjectAutoDestroy: boolean;
  /**
   * The duration of the workspace's project. While the workspace inherits the duration, `autoDestroyAt` is computed
   * from it.
   */
  inheritedActivityDuration: string | null;
}

export const noAutoDestroy: AutoDestroy = {
  autoDestroyAt: null,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
  inheritedActivityDuration: null,
};

/** Auto-destroy settings in a request; null removes a setting. */
export interface AutoDestroySettings {
  /** An RFC 3339 timestamp. */
  autoDestroyAt?: string | null | undefined;
  autoDestroyActivityDuration?: string | null | undefined;
  /** If true, the workspace inherits its project's settings, unless it has its own. If false, it inherits none. */
  inheritsProjectAutoDestroy?: boolean | undefined;
}

const DURATION = /^(\d{1,4})([dh])$/;
const HOUR_MS = 3_600_000;
const unitMs: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS };
const durationText =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";
// Accepts RFC 3339 only: JavaScript's `Date` also parses other formats, which clients interpret differently.
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Returns whether a duration in a request is valid; undefined and null are valid. Adds a problem if it is invalid. */
export function checkActivityDuration(
  duration: string | null | undefined,
  problems: Problems,
): boolean {
  if (duration === undefined || duration === null || durationMs(duration) !== undefined)
    return true;
  problems.add("autoDestroyActivityDuration", durationText);
  return false;
}

/** Returns a duration in ms; undefined if the text is invalid. */
export function durationMs(text: string): number | undefined {
  const [, digits = "0", unit = ""] = DURATION.exec(text) ?? [];
  return Number(digits) * (unitMs[unit] ?? 0) || undefined;
}

/** Applies the settings to the workspace and adds every problem to `problems`. */
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
  if (at === undefined && duration === undefined && inherits === undefined) return;
  const inherited = workspace.inheritsProjectAutoDestroy;
  const inheritedAt = workspace.autoDestroyAt;
  // Clears the inherited time, so that `autoDestroyAt` below contains only a time from the workspace's own settings.
  if (inherited) workspace.autoDestroyAt = null;
  if (duration !== undefined) {
    if (checkActivityDuration(duration, problems)) {
      const before = workspace.autoDestroyActivityDuration;
      workspace.autoDestroyActivityDuration = duration;
      // Removing the duration also clears the time that was computed from it. A new duration starts now.
      if (duration === null && before !== null) workspace.autoDestroyAt = null;
      if (duration !== null && duration !== before) noteActivity(workspace, now);
    }
  }
  if (at !== undefined) {
    const date = at === null ? null : dateOf(at);
    // Like every validation text, it begins with the attribute's name in words.
    if (date === undefined) problems.add("autoDestroyAt", "Auto destroy at is invalid");
    else if (date !== null) {
      workspace.autoDestroyAt = date;
      // A fixed time replaces a duration, unless the request contains both.
      if (!duration) workspace.autoDestroyActivityDuration = null;
    } else if (!duration) {
      workspace.autoDestroyAt = null;
      // The configuration provider clears both settings with this one member.
      workspace.autoDestroyActivityDuration = null;
    }
  }
  workspace.inheritsProjectAutoDestroy = inherits !== false && !hasOwnAutoDestroy(workspace);
  if (!workspace.inheritsProjectAutoDestroy) return;
  if (inherited) workspace.autoDestroyAt = inheritedAt;
  else noteActivity(workspace, now);
}

/**
 * Applies the duration of the workspace's project, after the workspace was created in this project or moved to it. The
 * duration starts now.
 */
export function inheritActivityDuration(
  workspace: AutoDestroy,
  duration: string | null,
  now: Date,
): void {
  workspace.inheritedActivityDuration = duration;
  if (!workspace.inheritsProjectAutoDestroy) return;
  workspace.autoDestroyAt = timeAfter(duration, now);
}

/** Returns the time of the destroy run if the last activity is now. Returns null if there is no duration. */
export function timeAfter(duration: string | null, now: Date): Date | null {
  const ms = duration === null ? undefined : durationMs(duration);
  return ms === undefined ? null : new Date(now.getTime() + ms);
}

const hasOwnAutoDestroy = ({ autoDestroyAt, autoDestroyActivityDuration }: AutoDestroy): boolean =>
  autoDestroyAt !== null || autoDestroyActivityDuration !== null;

/** Records activity on the workspace: its auto-destroy duration starts again. */
export function noteActivity(workspace: AutoDestroy, now: Date): void {
  const { autoDestroyActivityDuration: own, inheritedActivityDuration: inherited } = workspace;
  const duration = own ?? (workspace.inheritsProjectAutoDestroy ? inherited : null);
  const at = timeAfter(duration, now);
  if (at !== null) workspace.autoDestroyAt = at;
}

/**
 * If the workspace's destroy run is due, clears the schedule and returns the time at which the run was due; otherwise
 * returns undefined.
 */
export function takeDueMoment(workspace: AutoDestroy, now: Date): Date | undefined {
  const { autoDestroyAt: dueAt } = workspace;
  if (dueAt === null || dueAt > now) return undefined;
  // From now on, the destroy run is due and no longer scheduled; a runner may start it.
  workspace.autoDestroyAt = null;
  if (workspace.inheritsProjectAutoDestroy || hasOwnAutoDestroy(workspace)) return dueAt;
  workspace.inheritsProjectAutoDestroy = true;
  noteActivity(workspace, now);
  return dueAt;
}

// Times before 1970 are not accepted, and events cannot represent times after the year 9999.
const EARLIEST = Date.UTC(1970);
const LATEST = Date.UTC(10_000) - 1;

function dateOf(text: string): Date | undefined {
  const [, day] = TIMESTAMP.exec(text) ?? [];
  // JavaScript's `Date` parses February 31 as a day in March.
  if (day === undefined || !isDay(day)) return undefined;
  const date = new Date(text);
  const time = date.getTime();
  return time >= EARLIEST && time <= LATEST ? date : undefined;
}

const isDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};
