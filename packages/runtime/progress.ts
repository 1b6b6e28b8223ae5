/** The progress of a command. */
export interface Progress {
  /** Adds `steps` to the count. */
  advance(steps?: number): void;
  /** Sets the total, which can become known or grow during the work. */
  expect(total: number): void;
  /** Prints the final count and ends the line. */
  end(): void;
}

export interface ProgressOptions {
  /** The counted objects in the plural, for example "blobs". */
  what: string;
  /** Default: standard error, so that a command's own output stays separate. */
  stream?: { isTTY?: boolean; write(text: string): unknown };
}

const WIDTH = 30;
const BAR_MS = 100;
/**
 * The interval between progress lines in ms if the output is not a terminal: in a log, occasional lines are more useful
 * than a bar.
 */
const LINE_MS = 10_000;

/** Shows a bar on a terminal; otherwise prints a line every ten seconds. */
export function startProgress({ what, stream = process.stderr }: ProgressOptions): Progress {
  const startedAt = performance.now();
  const isBar = stream.isTTY === true;
  let done = 0;
  let total = 0;
  let shownAt = isBar ? Number.NEGATIVE_INFINITY : startedAt;
  const show = () => {
    shownAt = performance.now();
    const share = total > 0 ? Math.min(1, done / total) : 0;
    const perSecond = done / Math.max(0.001, (shownAt - startedAt) / 1000);
    const figures = `${done} of ${total} ${what} (${Math.floor(share * 100)} %, ${perSecond.toFixed(0)}/s)`;
    const filled = Math.round(share * WIDTH);
    const bar = `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] `;
    stream.write(isBar ? `\r${bar}${figures}\u001b[K` : `${figures}\n`);
  };
  const showNowAndThen = () => {
    if (performance.now() - shownAt >= (isBar ? BAR_MS : LINE_MS)) show();
  };
  return {
    advance(steps = 1) {
      done += steps;
      showNowAndThen();
    },
    expect(expected) {
      total = expected;
      showNowAndThen();
    },
    end() {
      show();
      if (isBar) stream.write("\n");
    },
  };
}
