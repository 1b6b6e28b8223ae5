import { expect, test } from "vitest";
import { withRetry } from "./with-retry.ts";

const failing = (times: number) => {
  const attempts: number[] = [];
  const work = async (attempt: number) => {
    attempts.push(attempt);
    if (attempt <= times) throw new Error(`failure ${attempt}`);
    return "done";
  };
  return { attempts, work };
};

test("work is repeated until it succeeds", async () => {
  const { attempts, work } = failing(2);
  const pauses: number[] = [];
  const pauseMs = (attempt: number) => {
    pauses.push(attempt);
    return 1;
  };
  expect(await withRetry({ attempts: 3, pauseMs }, work)).toBe("done");
  expect(attempts).toEqual([1, 2, 3]);
  expect(pauses).toEqual([1, 2]);
});

test("the last error is thrown after the last attempt", async () => {
  const { attempts, work } = failing(9);
  await expect(withRetry({ attempts: 3 }, work)).rejects.toThrow("failure 3");
  expect(attempts).toEqual([1, 2, 3]);
});

test("an error that is not retryable is thrown immediately", async () => {
  const { attempts, work } = failing(9);
  const isRetryable = () => false;
  await expect(withRetry({ attempts: 3, isRetryable }, work)).rejects.toThrow("failure 1");
  expect(attempts).toEqual([1]);
});

test("an aborted signal ends the attempts", async () => {
  const { attempts, work } = failing(9);
  const aborted = AbortSignal.abort();
  await expect(withRetry({ attempts: 3, signal: aborted }, work)).rejects.toThrow("failure 1");
  expect(attempts).toEqual([1]);
});
