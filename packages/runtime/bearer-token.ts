const BEARER = /^bearer +(\S+) *$/i;

/** Returns the bearer token of an Authorization header, if there is one. */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  BEARER.exec(authorization ?? "")?.[1];
