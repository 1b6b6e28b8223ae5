const BEARER = /^bearer +(\S+) *$/i;

const NKEY = /^nkey +(\S+) *$/i;

/** Returns a subscriber's nkey credential from an Authorization header; undefined if there is none. */
export const nkeyCredentialOf = (authorization: string | undefined): string | undefined =>
  NKEY.exec(authorization ?? "")?.[1];

/** Returns the bearer token of an Authorization header, if there is one. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? "")?.[1];
