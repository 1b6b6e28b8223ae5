import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";

/** A value, or a function that returns the current value. The function is called again for every connection. */
export type Renewable = string | (() => string);

/** How a client authenticates to NATS. */
export type NatsLogin =
  | { user: string; password: Renewable }
  | { token: Renewable }
  /** The seed of an nkey, `SU…`. */
  | { nkeySeed: Renewable }
  /** The content of a credentials file, as `nsc` writes it: JWT and seed. */
  | { credentials: Renewable };

/** The paths of PEM files, which are read again for every connection. */
export interface NatsTls {
  /**
   * The certificate authorities that are trusted to sign the server's certificate. Default: the authorities that Node
   * trusts.
   */
  caFile?: string | undefined;
  /** The client's certificate. */
  certFile?: string | undefined;
  /** The private key of the client's certificate. */
  keyFile?: string | undefined;
}

const current = (value: Renewable): string => (typeof value === "string" ? value : value());
/**
 * Encodes a value with one line break at its end. NATS does not recognize a credentials file without this line break.
 */
const lines = (value: Renewable) => () => new TextEncoder().encode(`${current(value).trim()}\n`);
const line = (value: Renewable) => () => new TextEncoder().encode(current(value).trim());

function authenticatorOf(login: NatsLogin): Authenticator {
  if ("user" in login)
    return usernamePasswordAuthenticator(login.user, () => current(login.password));
  if ("token" in login) return tokenAuthenticator(() => current(login.token));
  if ("nkeySeed" in login) return nkeyAuthenticator(line(login.nkeySeed));
  return credsAuthenticator(lines(login.credentials));
}

/** Returns the options of a connection. With `tls`, a server without TLS is refused before anything is sent to it. */
export function loginOptions(
  login: NatsLogin | undefined,
  tls: NatsTls | undefined,
): ConnectionOptions {
  return {
    ...(login && { authenticator: authenticatorOf(login) }),
    ...(tls && {
      tls: {
        ...(tls.caFile && { caFile: tls.caFile }),
        ...(tls.certFile && { certFile: tls.certFile }),
        ...(tls.keyFile && { keyFile: tls.keyFile }),
      },
    }),
  };
}
