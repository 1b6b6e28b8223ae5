/** How long a request has to get a neighbour's acknowledgement before others try in its place. */
export const RETRY_AFTER_MS = 30_000;
