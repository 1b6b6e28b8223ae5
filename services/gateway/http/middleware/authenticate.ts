import { AppError } from "@statehouse/errors";
import { type AuthenticationLimit, type Proxies, runWithDeadline } from "@statehouse/runtime";
import { type Authenticate, type Caller, credentialTypes } from "../authentication.ts";
import type { Route } from "../route.ts";
import type { Middleware } from "./state.ts";

export interface AuthenticateOptions {
  authenticate: Authenticate;
  authenticationLimit: AuthenticationLimit;
  /** Records in the audit trail that the gateway refused a caller's request to a route. */
  recordRefusal: (caller: Caller, route: string, code: string) => Promise<void>;
  proxies: Pick<Proxies, "clientOf">;
  /** Time limit for authenticating a request, in ms. */
  requestTimeoutMs: number;
}

/** The caller of routes that require no token. */
const anonymous: Caller = {
  principal: { type: "service", id: "anonymous", versions: "" },
  assertion: () => Promise.reject(new Error("a route without credentials called a service")),
};

/**
 * Authenticates the bearer token, unless the route requires no token. Throws `unauthenticated` for a missing or invalid
 * token, `rateLimited` if too many requests with invalid tokens came from the client's address, and `forbidden` if the
 * route does not accept this kind of token.
 */
export const authenticate = (
  { method, path, credentials }: Route,
  options: AuthenticateOptions,
): Middleware => {
  const { authenticate: authenticateToken, authenticationLimit, proxies } = options;
  if (credentials === "none") {
    return (ctx, next) => {
      ctx.state.caller = anonymous;
      return next();
    };
  }
  return async (ctx, next) => {
    const { authorization } = ctx.req.headers;
    ctx.state.caller = await authenticationLimit.run(ctx.req, () =>
      runWithDeadline(Date.now() + options.requestTimeoutMs, () =>
        authenticateToken(authorization, proxies.clientOf(ctx.req)),
      ),
    );
    const refusal = foreignCredential(ctx.state.caller, credentials);
    if (refusal) {
      await options.recordRefusal(ctx.state.caller, `${method} ${path}`, refusal.reason);
      throw refusal;
    }
    return next();
  };
};

/**
 * Authenticates again if the body arrived after the first authentication, so that the permissions are current when the
 * request is handled.
 */
export const authenticateAgain = (route: Route, options: AuthenticateOptions): Middleware => {
  const again = authenticate(route, options);
  return (ctx, next) => (ctx.state.bodyArrivedLater ? again(ctx, next) : next());
};

/** Returns an error if the route does not accept tokens of the caller's kind, otherwise undefined. */
function foreignCredential(
  caller: Caller,
  credentials: Route["credentials"],
): AppError | undefined {
  if (credentials === undefined || credentials === "none") return undefined;
  const { type } = caller.principal;
  if (credentials.some((allowed) => allowed === type)) return undefined;
  const kind = credentialTypes.find((known) => known === type) ?? "such";
  return new AppError(
    "forbidden",
    "credential_not_allowed",
    `This cannot be done with ${kind} tokens.`,
  );
}
