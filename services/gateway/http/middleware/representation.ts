import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isCurrentTag, nextTurn } from "@statehouse/runtime";
import { LRUCache } from "lru-cache";
import type { Middleware, RequestCtx } from "./state.ts";

const compress = promisify(gzip);

/** The size in bytes above which a body is compressed. Compressing a smaller body would not save a network packet. */
const MIN_COMPRESSED_BYTES = 1024;

/** The length above which a body is hashed in a separate turn of the event loop. */
const LARGE_LENGTH = 256 * 1024;

/**
 * Adds to responses what HTTP caches and slow connections need: an ETag, 304 if the client has the current body, and
 * gzip. The ETag is computed from the body after authorization, so that it reveals nothing that the body does not
 * contain. Bodies with secrets are neither cached nor compressed: the size of a compressed body can reveal its content.
 */
export const representation: Middleware = async (ctx, next) => {
  await next();
  const { body } = ctx;
  if (typeof body !== "string" || ctx.state.hasSecret) return;
  if (body.length > LARGE_LENGTH) await nextTurn();
  const encoding =
    ctx.req.headers["accept-encoding"] !== undefined &&
    Buffer.byteLength(body) > MIN_COMPRESSED_BYTES
      ? ctx.acceptsEncodings("gzip", "identity")
      : "";
  const cacheable = isCacheable(ctx);
  if (cacheable) {
    vary(ctx, "Authorization, Accept, Accept-Encoding");
    if (ctx.response.get("Cache-Control") === "no-store") {
      ctx.set("Cache-Control", "private, no-cache");
    }
    const tag = entityTag(body, encoding === "gzip" ? "-gzip" : "");
    ctx.set("ETag", tag);
    if (isCurrentTag(ctx.get("If-None-Match"), tag)) {
      ctx.status = 304;
      ctx.body = null;
      return;
    }
  }
  if (encoding !== "gzip") return;
  if (!cacheable) vary(ctx, "Accept-Encoding");
  ctx.set("Content-Encoding", "gzip");
  ctx.body = await compressedBody(ctx, body);
};

/** Adds fields to the header Vary. Uses `ctx.vary`, which parses all fields, only if the header exists. */
const vary = (ctx: RequestCtx, fields: string): void => {
  if (ctx.res.hasHeader("Vary")) ctx.vary(fields);
  else ctx.set("Vary", fields);
};

/** Compressed bodies of routes without credentials. */
const publicBodies = new LRUCache<string, Promise<Buffer>>({ max: 16 });

/**
 * Compresses the body. The compressed bodies of routes without credentials are cached, because they are the same for
 * all callers and some are large, for example the scripts of the reference page.
 */
function compressedBody({ state }: RequestCtx, body: string): Promise<Buffer> {
  if (state.route?.credentials !== "none") return compress(body, { level: 1 });
  const compressed = publicBodies.get(body) ?? compress(body, { level: 1 });
  publicBodies.set(body, compressed);
  return compressed;
}

const isCacheable = ({ method, status }: RequestCtx) =>
  (method === "GET" || method === "HEAD") && status === 200;

/**
 * Returns a weak entity tag: it identifies the content of the body in one encoding, without promising identical bytes.
 */
const entityTag = (body: string, suffix: string) =>
  `W/"${hash("sha256", body, "base64url").slice(0, 22)}${suffix}"`;
