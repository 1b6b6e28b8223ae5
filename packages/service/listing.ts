import type { Listing, StreamPosition } from "@statehouse/events";
import { ListingService } from "@statehouse/proto/statehouse/events/v1/listing";
import { implement, type ServiceBinding } from "@statehouse/rpc";

/** The maximum number of objects on a page. */
const MAX_LIMIT = 1000;

/**
 * Binds the gRPC service with which subscribers list existing objects. The gateway authenticates the subscribers and
 * limits their filters.
 */
export const listingBinding = (
  list: Listing,
  stream: () => Promise<StreamPosition>,
): ServiceBinding =>
  implement(ListingService, {
    listObjects: ({ filters, cursor, limit }) =>
      list({ filters, cursor, limit: Math.min(Math.max(limit, 1), MAX_LIMIT) }),
    getStream: async () => {
      const { name, created, first, last } = await stream();
      return {
        stream: name,
        created,
        firstSequence: BigInt(first),
        lastSequence: BigInt(last),
      };
    },
  });
