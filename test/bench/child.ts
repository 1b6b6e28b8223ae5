import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A program of the bench in a separate process. It answers each message with one message. */
export interface BenchProcess<Question, Answer> extends AsyncDisposable {
  readonly pid: number;
  ask(question: Question): Promise<Answer>;
}

/**
 * Starts `script` with the Node of this process. The script exits when this process exits, because the channel between
 * them closes.
 */
export function startChild<Question extends object, Answer>(
  script: URL,
): BenchProcess<Question, Answer> {
  const child: ChildProcess = fork(script, { serialization: "advanced", execArgv: [] });
  const gone = once(child, "exit").then(([code]) => {
    throw new Error(`${script.pathname} ended with ${code}`);
  });
  gone.catch(() => {});
  return {
    pid: child.pid ?? 0,
    async ask(question) {
      child.send(question);
      const [answer] = await Promise.race([once(child, "message"), gone]);
      return answer as Answer;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await gone.catch(() => {});
    },
  };
}
