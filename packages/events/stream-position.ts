import { jetstreamManager } from "@nats-io/jetstream";
import { unavailable } from "@statehouse/errors";
import type { Nats } from "./nats.ts";
import { STREAM } from "./stream.ts";

/** The creation time of the event stream, and the range of sequence numbers that it currently contains. */
export interface StreamPosition {
  name: string;
  /** The creation time of the stream. It changes if the stream is deleted and created again. */
  created: string;
  /** The sequence number of the oldest event; greater than `last` if the stream is empty. */
  first: number;
  /** The sequence number of the newest event. */
  last: number;
}

/**
 * Returns the creation time and the range of sequence numbers of the event stream. Throws `unavailable` if NATS or the
 * stream is unavailable.
 */
export async function streamPosition(nats: Nats): Promise<StreamPosition> {
  try {
    await nats.ready();
    const { streams } = await jetstreamManager(await nats.connection());
    const { created, state } = await streams.info(STREAM);
    return { name: STREAM, created, first: state.first_seq, last: state.last_seq };
  } catch (error) {
    throw unavailable("stream", "The stream of events is unavailable.", error);
  }
}
