import { jetstreamManager } from "@nats-io/jetstream";
import { unavailable } from "@statehouse/errors";
import type { StreamState } from "./listing-client.ts";
import type { Nats } from "./nats.ts";
import { STREAM } from "./stream.ts";

/**
 * Returns the creation time and the range of sequence numbers of the event stream. Throws `unavailable` if NATS or the
 * stream is unavailable.
 */
export async function streamPosition(nats: Nats): Promise<StreamState> {
  try {
    await nats.ready();
    const { streams } = await jetstreamManager(await nats.connection());
    const { created, state } = await streams.info(STREAM);
    return { created, firstSequence: state.first_seq, lastSequence: state.last_seq };
  } catch (error) {
    throw unavailable("stream", "The stream of events is unavailable.", error);
  }
}
