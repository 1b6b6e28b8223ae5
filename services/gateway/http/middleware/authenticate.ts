import { AppError } from "@statehouse/errors";
import { runWithDeadline } from "@statehouse/runtime";
import { type Authenticate, type Caller, credentialTypes } from "../authentication.ts";
import type { Route } from "../route.ts";
import type { Middleware } from "./state.ts";

/** The caller of routes that require no token. */
const anonymous: Caller = {
  principal: { type: "service", id: "anonymous", versions: "" },
  assertion: () => Promise.reject(new Error("a route without credentials called a service")),
};

/**
 * Authenticates the bearer token. Throws `unauthenticated`, or `forbidden` if the route does not accept this kind of
 * token.
 */
export const authenticate =
  ({ credentials }: Route, authenticateToken: Authenticate, timeoutMs: number): Middleware =>
  async (ctx, next) => {
    const { authorization } = ctx.req.headers;
    ctx.state.caller =
      credentials === "none"
        ? anonymous
        : await runWithDeadline(Date.now() + timeoutMs, () => authenticateToken(authorization));
    refuseForeignCredentials(ctx.state.caller, credentials);
    return next();
  };

/**
 * Authenticates again if the body arrived after the first authentication, so that the permissions are current when the
 * request is handled.
 */
export const authenticateAgain = (
  route: Route,
  authenticateToken: Authenticate,
  timeoutMs: number,
): Middleware => {
  const again = authenticate(route, authenticateToken, timeoutMs);
  return (ctx, next) => (ctx.state.bodyArrivedLater ? again(ctx, next) : next());
};

function refuseForeignCredentials(caller: Caller, credentials: Route["credentials"]): void {
  if (credentials === undefined || credentials === "none") return;
  const { type } = caller.principal;
  if (credentials.some((allowed) => allowed === type)) return;
  const kind = credentialTypes.find((known) => known === type) ?? "such";
  throw new AppError(
    "forbidden",
    "credential_not_allowed",
    `This cannot be done with ${kind} tokens.`,
  );
}
