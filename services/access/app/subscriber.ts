import { verifyCredential } from "@statehouse/events/nkey-credential";
import { subscriberRefused } from "../domain/errors.ts";
import type { Subscriber } from "../domain/subscriber.ts";
import type { App } from "./app.ts";

/**
 * Returns the subscriber whose nkey signed the credential of a request. Each credential is accepted only once, even if
 * several replicas receive it. Throws `unauthenticated`.
 */
export async function authenticateSubscriber(
  app: App,
  credential: string,
  request: { origin: string; target: string },
): Promise<Subscriber> {
  const at = app.now();
  const verified = verifyCredential(credential, request, at);
  const subscriber = app.settings.subscribers.find(
    ({ publicKeys }) => verified && publicKeys.includes(verified.publicKey),
  );
  if (!verified || !subscriber) throw subscriberRefused();
  await app.transaction(async (tx) => {
    if (!(await tx.subscriberNonces.use(verified))) throw subscriberRefused();
    await tx.subscriberNonces.removeExpired(at);
  });
  return subscriber;
}
