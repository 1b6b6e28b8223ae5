import { createHmac, timingSafeEqual } from "node:crypto";
import { isId } from "@statehouse/postgres/ids";
import type { StateVersionId, WorkspaceId } from "../ids-domain.ts";

/** The two contents of a state version: the engine's raw state, and its JSON form. */
export type ContentKind = "raw" | "json";

/** The claims of an upload URL: the right to upload one kind of content of one version until the URL expires. */
export interface UploadClaims {
  workspaceId: WorkspaceId;
  versionId: StateVersionId;
  kind: ContentKind;
  expiresAt: Date;
}

export interface UploadTokens {
  /** Returns the token for an upload URL. The token authorizes the upload without any other credential. */
  sign(claims: UploadClaims): string;
  /** Returns the claims of a valid token that has not expired at `now`; otherwise undefined. */
  verify(token: string, now: Date): UploadClaims | undefined;
}

interface Key {
  id: string;
  secret: Buffer;
}

/** `keys` is `id:base64,id:base64`, which the setting has checked; the first key signs and all keys verify. */
export function createUploadTokens(keys: string): UploadTokens {
  const ring = keys.split(",").map(keyFrom);
  const [current] = ring;
  if (!current) throw new Error("upload token keys: at least one is needed");
  return {
    sign(claims) {
      const body = `${current.id}.${encode(claims)}`;
      return `${body}.${mac(current, body).toString("base64url")}`;
    },
    verify(token, now) {
      const [id = "", payload = "", signature = "", ...more] = token.split(".");
      const key = ring.find((candidate) => candidate.id === id);
      if (!key || more.length > 0) return undefined;
      const expected = mac(key, `${id}.${payload}`);
      const received = Buffer.from(signature, "base64url");
      if (received.length !== expected.length || !timingSafeEqual(received, expected))
        return undefined;
      // Base64url allows several encodings of one signature (spare bits, padding); only one of them is accepted.
      if (received.toString("base64url") !== signature) return undefined;
      const claims = decode(payload);
      return claims && claims.expiresAt > now ? claims : undefined;
    },
  };
}

const mac = (key: Key, body: string): Buffer =>
  createHmac("sha256", key.secret).update(body).digest();

const encode = ({ workspaceId, versionId, kind, expiresAt }: UploadClaims): string =>
  Buffer.from([workspaceId, versionId, kind, expiresAt.getTime()].join(" ")).toString("base64url");

function decode(payload: string): UploadClaims | undefined {
  const fields = Buffer.from(payload, "base64url").toString("utf8").split(" ");
  const [workspaceId = "", versionId = "", kind = "", expiry = ""] = fields;
  if (!isId("ws", workspaceId) || !isId("sv", versionId)) return undefined;
  if (kind !== "raw" && kind !== "json") return undefined;
  const expiresAt = new Date(Number(expiry));
  return Number.isNaN(expiresAt.getTime())
    ? undefined
    : { workspaceId, versionId, kind, expiresAt };
}

function keyFrom(entry: string): Key {
  const [id = "", encoded = ""] = entry.trim().split(":");
  return { id, secret: Buffer.from(encoded, "base64") };
}
