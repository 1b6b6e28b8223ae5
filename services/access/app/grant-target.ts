import { isNotFound } from "@statehouse/errors";

/**
 * What a grant is on may have gone while the grant was made, and we may have heard of that before there was
 * one to forget. Workspaces knows of every deletion before we hear of it: asked now, it tells. Throws `notFound`.
 */
export async function forgetIfGone(
  ask: () => Promise<unknown>,
  forget: () => Promise<void>,
): Promise<void> {
  try {
    await ask();
  } catch (error) {
    // The grant is committed: a neighbour that is away is no reason to say that it is not.
    if (!isNotFound(error)) return;
    await forget();
    throw error;
  }
}
