import { expect, test } from "vitest";
import {
  declaredSettings,
  type ServiceName,
  services,
  settingSchemas,
} from "./declared-settings.ts";
import { environmentOf, render, run } from "./helm.ts";

/** The settings that `statehouse <service> --help` lists. */
async function listedSettings(service: ServiceName): Promise<string[]> {
  const root = new URL("../..", import.meta.url).pathname;
  const main = ["packages/local-services/run.mjs", "services/cli/main.ts", service, "--help"];
  const { output } = await run(process.execPath, main, root);
  return output.split("\n").flatMap((line) => /^ {2}([A-Z0-9_]+) /.exec(line)?.[1] ?? []);
}

/** Settings that cannot be combined with each other. */
const alone = ["NATS_TOKEN", "NATS_NKEY_SEED", "NATS_CREDENTIALS"];

function sample(service: ServiceName, name: string): string | number | boolean {
  const { enum: values, type, minimum, pattern } = settingSchemas(service)[name] ?? {};
  if (name === "BLOB_STORE") return "s3";
  if (Array.isArray(values)) return values[0];
  const types = Array.isArray(type) ? type : [];
  if (types.includes("boolean")) return true;
  // Each listener gets a separate port. Any other number is the minimum of its setting, but at least 5. The largest
  // minimum is so large that Helm, by default, prints it with an exponent.
  if (!types.includes("string"))
    return name.endsWith("PORT") ? 10_000 + name.length : Math.max(Number(minimum ?? 1), 5);
  return pattern ? "https://statehouse.example.com" : `value of ${name}`;
}

test.for(services)("every setting of %s can be set", async (service) => {
  const names = await listedSettings(service);
  expect(names.length).toBeGreaterThan(10);
  const declared = declaredSettings(service);
  for (const login of service === "gateway" ? [""] : alone) {
    const chosen = names.filter((name) => login === name || !alone.includes(name));
    const withoutUser = chosen.filter((name) => !/^NATS_(USER|PASSWORD)$/.test(name));
    const tried = login === alone[0] ? chosen.filter((name) => name !== login) : withoutUser;
    const fromSource = tried.filter((name) => declared[name]?.secret || declared[name]?.file);
    const asText = tried.filter((name) => !fromSource.includes(name));
    const rendered = await render({
      [service]: {
        settings: Object.fromEntries(asText.map((name) => [name, sample(service, name)])),
        settingsFrom: {
          ...(service === "gateway" ? {} : { ASSERTION_PUBLIC_KEYS: null, NATS_NKEY_SEED: null }),
          ...Object.fromEntries(
            fromSource.map((name) => [name, { existingSecret: { name: "own", key: name } }]),
          ),
        },
      },
    });
    const deployment = rendered.get("Deployment", service);
    const expected = Object.fromEntries([
      ...asText.map((name) => [name, String(sample(service, name))]),
      ...fromSource.map((name) => [
        name.endsWith("_FILE") ? name : `${name}_FILE`,
        `/etc/statehouse/settings/${name}`,
      ]),
    ]);
    expect(environmentOf(deployment)).toMatchObject(expected);
  }
});

test("a setting for all services reaches those that know it, and a service's own value wins", async () => {
  const rendered = await render({
    settings: { LOG_LEVEL: "warn", EDITION: "hosted", MAX_STATE_BYTES: 8_589_934_592 },
    state: { settings: { LOG_LEVEL: "debug" } },
  });
  const seen = services.map((service) => {
    const { LOG_LEVEL, EDITION, MAX_STATE_BYTES } = environmentOf(
      rendered.get("Deployment", service),
    );
    return [service, LOG_LEVEL, EDITION, MAX_STATE_BYTES];
  });
  expect(seen).toEqual([
    ["gateway", "warn", "hosted", undefined],
    ["access", "warn", undefined, undefined],
    ["workspaces", "warn", "hosted", undefined],
    ["state", "debug", "hosted", "8589934592"],
  ]);
});

test("a changed setting changes the pods of the services that know it, and no others", async () => {
  const [before, after] = await Promise.all([
    render(),
    render({ settings: { PENDING_WINDOW: 60 } }),
  ]);
  const changed = before
    .ofKind("Deployment")
    .filter(({ metadata, spec }) => {
      const now = after.get("Deployment", metadata.name);
      return JSON.stringify(spec) !== JSON.stringify(now.spec);
    })
    .map(({ metadata }) => metadata.name);
  expect(changed).toEqual(["statehouse-state"]);
});

test("state uses the role of its service account instead of keys for the bucket", async () => {
  const role = { "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/statehouse" };
  const rendered = await render({
    settings: { S3_CREDENTIALS: "aws", S3_ENCRYPTION: "aws:kms", S3_KMS_KEY_ID: "states" },
    settingsFrom: { S3_ACCESS_KEY: null, S3_SECRET_KEY: null },
    state: { serviceAccount: { annotations: role } },
  });
  expect(rendered.get("ServiceAccount", "state").metadata).toMatchObject({ annotations: role });
  expect(environmentOf(rendered.get("Deployment", "state"))).toMatchObject({
    S3_CREDENTIALS: "aws",
    S3_ENCRYPTION: "aws:kms",
    S3_KMS_KEY_ID: "states",
  });
  expect(rendered.text).not.toContain("S3_ACCESS_KEY");
});
