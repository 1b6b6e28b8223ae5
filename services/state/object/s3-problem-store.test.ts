import { unavailable } from "@statehouse/errors";
import { describe, expect, it } from "vitest";
import { s3Problem } from "./s3-problem-store.ts";

const settings = {
  endpoint: "https://s3.example",
  bucket: "states",
  region: "us-east-1",
  accessKey: "access",
  secretKey: "secret",
};

const withCode = (code: string, more = {}) => Object.assign(new Error("words"), { code, ...more });

// Errors that a test can cause in a separate MinIO are tested in the tests of the store.
const rows: [error: unknown, sentence: string][] = [
  [
    withCode("AccessDenied"),
    "https://s3.example does not allow S3_ACCESS_KEY to create the bucket; this is required in the bucket states.",
  ],
  [withCode("NoSuchBucket"), "There is no bucket states at https://s3.example (S3_BUCKET)."],
  [
    withCode("PermanentRedirect"),
    "The bucket states is not in the region us-east-1: set S3_REGION.",
  ],
  [withCode("RequestTimeTooSkewed"), "The clocks of https://s3.example and of this host differ."],
  [withCode("CERT_HAS_EXPIRED"), "The certificate of https://s3.example has expired."],
  [
    unavailable("blob_store", "try again", new AggregateError([withCode("ECONNREFUSED")])),
    "https://s3.example does not respond (ECONNREFUSED).",
  ],
  [
    new Error("fetch failed", { cause: withCode("ECONNRESET") }),
    "https://s3.example does not respond (ECONNRESET).",
  ],
  [withCode("Unheard"), "https://s3.example cannot be used: words"],
  ["no error", "https://s3.example cannot be used: no error"],
];

describe("a problem with S3", () => {
  it.each(rows)("%s", (error, sentence) => {
    expect(s3Problem(error, settings, "create the bucket")).toBe(sentence);
    expect(sentence).not.toContain(settings.secretKey);
  });
});
