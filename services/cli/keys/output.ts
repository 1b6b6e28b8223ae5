import path from "node:path";
import { makeFolder, writePrivately } from "@statehouse/runtime";
import type { Material } from "./material.ts";
import { natsUsers } from "./nats-users.ts";
import { holders, isFileOnly, type Values, valuesOf } from "./settings.ts";

/** Returns the lines of an environment file for one service, runner or subscriber. */
export function environmentLines(material: Material, name: string): string[] {
  const values = Object.entries(valuesOf(material, name));
  return [
    ...values
      .filter(([setting]) => !isFileOnly(setting))
      .map(([setting, value]) => `${setting}='${value}'`),
    ...(values.some(([setting]) => isFileOnly(setting))
      ? ["# GRPC_CA_FILE, GRPC_CERT_FILE and GRPC_KEY_FILE name files: --format files writes them."]
      : []),
  ];
}

/**
 * Writes a folder with one file for each setting, for each of `names`. If `names` contains all services, runners and
 * subscribers, also writes the NATS configuration of their accounts.
 */
export async function writeFiles(
  material: Material,
  folder: string,
  names: readonly string[],
): Promise<void> {
  await makeFolder(folder, 0o700);
  for (const name of names) {
    const own = path.resolve(folder, name);
    await makeFolder(own, 0o700);
    const values = Object.entries(valuesOf(material, name));
    for (const [setting, value] of values) await writePrivately(path.join(own, setting), value);
    const lines = values.map(([setting]) => `${setting}_FILE=${path.join(own, setting)}\n`);
    await writePrivately(path.join(own, "settings.env"), lines.join(""));
  }
  if (names.length < holders(material).length) return;
  const nats = path.resolve(folder, "nats");
  await makeFolder(nats, 0o700);
  await writePrivately(path.join(nats, "users.conf"), natsUsers(material));
}

interface ManifestOptions {
  /** The prefix of the names of all Secrets. */
  prefix: string;
  namespace: string | undefined;
}

/**
 * Returns Kubernetes manifests: for each of `names` a Secret with its keys; for each service and runner also a Secret
 * with its certificate in the form that cert-manager writes; and, if `names` contains all services, runners and
 * subscribers, a Secret with the NATS configuration of their accounts.
 */
export function manifests(
  material: Material,
  names: readonly string[],
  options: ManifestOptions,
): string {
  const documents = names.flatMap((name) => {
    const values = valuesOf(material, name);
    const keys = Object.entries(values).filter(([setting]) => !isFileOnly(setting));
    return [
      secret(`keys-${name}`, "Opaque", Object.fromEntries(keys), options),
      ...(values.GRPC_CERT === undefined ? [] : [certificateSecret(name, values, options)]),
    ];
  });
  const nats = secret("nats-users", "Opaque", { "users.conf": natsUsers(material) }, options);
  return [...documents, ...(names.length < holders(material).length ? [] : [nats])].join("---\n");
}

const certificateSecret = (name: string, values: Values, options: ManifestOptions): string =>
  secret(
    `tls-${name}`,
    "kubernetes.io/tls",
    {
      "ca.crt": values.GRPC_CA ?? "",
      "tls.crt": values.GRPC_CERT ?? "",
      "tls.key": values.GRPC_KEY ?? "",
    },
    options,
  );

/** Returns the manifest of a Secret. Its values are JSON strings, which are valid YAML. */
function secret(
  name: string,
  type: string,
  values: Values,
  { prefix, namespace }: ManifestOptions,
): string {
  const lines = [
    "apiVersion: v1",
    "kind: Secret",
    "metadata:",
    `  name: ${JSON.stringify(`${prefix}-${name}`)}`,
    ...(namespace === undefined ? [] : [`  namespace: ${JSON.stringify(namespace)}`]),
    "  labels:",
    "    app.kubernetes.io/part-of: statehouse",
    `type: ${type}`,
    "stringData:",
    ...Object.entries(values).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
  ];
  return `${lines.join("\n")}\n`;
}
