import { type Duplex, Readable } from "node:stream";

/** Metadata that carries the caller's assertion. */
export const assertionKey = "statehouse-assertion";
/** W3C trace context. */
export const traceparentKey = "traceparent";
/** The largest message of gRPC that either side takes; state bytes never travel through gRPC. */
export const maxMessageBytes = 16 * 1024 * 1024;
/** The largest request or answer, which travels as several such messages. */
export const maxLargeBytes = 128 * 1024 * 1024;
/** In the trailer of a refusal: the answer is there, but only in pieces. */
export const inPiecesTrailer = "statehouse-in-pieces";

const PIECE_BYTES = 1024 * 1024;
/** Room for what gRPC adds to a message. */
const MARGIN_BYTES = 64 * 1024;

/** Whether it has to travel in pieces. */
export const isLarge = (bytes: Uint8Array): boolean =>
  bytes.length > maxMessageBytes - MARGIN_BYTES;

/** Where a method is called in pieces: beside it, as a stream both ways. */
export const inPiecesPath = (path: string): string => `${path}InPieces`;

/** Sends bytes in pieces and ends the stream, as fast as the other side takes them. */
export function sendInPieces(bytes: Uint8Array, stream: Duplex): void {
  Readable.from(piecesOf(bytes)).pipe(stream);
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** Gathers the pieces until the other side ends. Throws `RangeError` beyond `maxLargeBytes`. */
export function gatherPieces(stream: Duplex): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let size = 0;
    // Not `for await`: that ends the stream's other half, too.
    stream.on("data", (piece: Uint8Array) => {
      size += piece.length;
      if (size <= maxLargeBytes) pieces.push(piece);
      else reject(new RangeError(`more than ${maxLargeBytes} bytes`));
    });
    stream.once("end", () => resolve(Buffer.concat(pieces)));
    stream.once("error", reject);
  });
}
