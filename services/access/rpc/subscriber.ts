import type { SubscriberService } from "@statehouse/proto/statehouse/access/v1/subscriber";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { authenticateSubscriber } from "../app/subscriber.ts";

export const subscriberService = (app: App): ServiceImpl<typeof SubscriberService> => ({
  authenticateSubscriber: async ({ credential, origin, target }) => {
    const { durable, filter } = await authenticateSubscriber(app, credential, { origin, target });
    return { durable, filter };
  },
});
