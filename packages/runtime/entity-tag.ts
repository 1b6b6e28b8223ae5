/**
 * Returns whether a client that sent this If-None-Match header has the content with this entity tag (RFC 9110, 13.1.2).
 * Request directives in Cache-Control are ignored, because `fetch` in browsers sends `no-cache` together with
 * If-None-Match.
 */
export function isCurrentTag(header: string | undefined, tag: string): boolean {
  if (!header) return false;
  const opaque = (text: string) => text.trim().replace(/^W\//, "");
  return header.trim() === "*" || header.split(",").some((known) => opaque(known) === opaque(tag));
}
