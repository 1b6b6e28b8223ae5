import type { IncomingMessage } from "node:http";

/** The minimum average rate at which a body must arrive after `timeoutMs`, in bytes per ms. */
const LOWEST_RATE = 16;

/**
 * Calls `late` once if the body of `request` has not arrived within its time limit, which is `timeoutMs` plus one
 * second for each 16,000 bytes received, so that a large body can take longer.
 */
export function limitReceiving(
  request: IncomingMessage,
  timeoutMs: number,
  late: () => void,
): void {
  if (request.complete) return;
  const { socket } = request;
  const startedAt = performance.now();
  const before = socket.bytesRead;
  const remaining = () =>
    startedAt + timeoutMs + (socket.bytesRead - before) / LOWEST_RATE - performance.now();
  const check = () => {
    const ms = remaining();
    if (ms <= 0) late();
    else timer = setTimeout(check, ms);
  };
  let timer = setTimeout(check, timeoutMs);
  const end = () => clearTimeout(timer);
  request.once("end", end);
  request.once("close", end);
}
