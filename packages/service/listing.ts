import type { Listing, StreamPosition } from "@statehouse/events";
import { ListingService } from "@statehouse/proto/statehouse/events/v1/listing";
import { implement, type ServiceBinding } from "@statehouse/rpc";

/** The largest number of objects of a page. */
const MAX_LIMIT = 1000;

/** Binds the service with which subscribers list what exists. The gateway authenticates them and limits the filters. */
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
