import { describe, expect, test } from "vitest";
import { badValues } from "./bad-values.ts";
import { helms, minimal, template } from "./helm.ts";

describe.each(helms)("%s refuses", (helm) => {
  test.for(badValues)("%s", { concurrent: true }, async ([, values, message]) => {
    const { code, output, errors } = await template([minimal, values], { helm });
    expect(code, output).not.toBe(0);
    expect(errors).toContain(message);
    expect(errors).not.toMatch(/hunter2|wrong type for value|nil pointer/);
  });
});

test("every problem of the values is in one message", async () => {
  const { errors } = await template([{}]);
  expect(errors.split("\n").filter((line) => /^ {2}\S/.test(line))).toMatchInlineSnapshot(`
    [
      "  image.repository: is required; set the repository that has the image, such as registry.example.com/statehouse.",
      "  settings.PUBLIC_URL: is required; set it. The address that clients use, without a path.",
      "  access.settingsFrom.DATABASE_URL.existingSecret: is required; set the name and the key of a Secret. Address of the service's own PostgreSQL database.",
      "  settings.NATS_URL: is required; set it. Address of NATS.",
      "  workspaces.settingsFrom.DATABASE_URL.existingSecret: is required; set the name and the key of a Secret. Address of the service's own PostgreSQL database.",
      "  state.settingsFrom.DATABASE_URL.existingSecret: is required; set the name and the key of a Secret. Address of the service's own PostgreSQL database.",
      "  state.settingsFrom.S3_ACCESS_KEY.existingSecret: is required with BLOB_STORE=s3 and S3_CREDENTIALS=keys; set the name and the key of a Secret. Access key for the bucket; used if S3_CREDENTIALS=keys.",
      "  settings.S3_BUCKET: is required with BLOB_STORE=s3; set it. Name of the bucket.",
      "  settings.S3_ENDPOINT: is required with BLOB_STORE=s3; set it. Address of the S3 service; used if BLOB_STORE=s3.",
      "  state.settingsFrom.S3_SECRET_KEY.existingSecret: is required with BLOB_STORE=s3 and S3_CREDENTIALS=keys; set the name and the key of a Secret. Secret key for the bucket; used if S3_CREDENTIALS=keys.",
    ]
  `);
});
