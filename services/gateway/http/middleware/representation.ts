import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { isCurrentTag } from "@statehouse/runtime";
import type { Middleware, RequestCtx } from "./state.ts";

const compress = promisify(gzip);

/** The size in bytes above which a body is compressed. Below it, compression saves no packet. */
const MIN_COMPRESSED_BYTES = 1024;

/**
 * Adds to responses what HTTP caches and slow connections need: an ETag, 304 if the client has the current body, and
 * gzip. The ETag is computed from the body after authorization, so that it shows nothing that the body does not show.
 * Bodies with secrets are neither cached nor compressed: the size of a compressed body can reveal its content.
 */
export const representation: Middleware = async (ctx, next) => {
  await next();
  const { body } = ctx;
  if (typeof body !== "string" || ctx.state.hasSecret) return;
  const encoding =
    Buffer.byteLength(body) > MIN_COMPRESSED_BYTES ? ctx.acceptsEncodings("gzip", "identity") : "";
  if (isCacheable(ctx)) {
    ctx.vary("Authorization, Accept, Accept-Encoding");
    ctx.set("Cache-Control", "private, no-cache");
    const tag = entityTag(body, encoding === "gzip" ? "-gzip" : "");
    ctx.set("ETag", tag);
    if (isCurrentTag(ctx.get("If-None-Match"), tag)) {
      ctx.status = 304;
      ctx.body = null;
      return;
    }
  }
  if (encoding !== "gzip") return;
  ctx.vary("Accept-Encoding");
  ctx.set("Content-Encoding", "gzip");
  ctx.body = await compress(body, { level: 1 });
};

const isCacheable = ({ method, status }: RequestCtx) =>
  (method === "GET" || method === "HEAD") && status === 200;

/** Returns a weak tag: it identifies the body of one encoding, and all its spellings are equal to clients. */
const entityTag = (body: string, suffix: string) =>
  `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}${suffix}"`;
