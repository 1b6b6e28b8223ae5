import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { run } from "./helm.ts";

// The schemas of Kubernetes and of the custom resources that the chart and its examples contain, from the Go modules that
// define them.

const KUBERNETES = "k8s.io/kubernetes@v1.34.3";
const definitionFiles: readonly [module: string, file: string][] = [
  [
    "sigs.k8s.io/gateway-api@v1.4.0",
    "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
  ],
  ["github.com/cert-manager/cert-manager@v1.19.1", "deploy/crds/cert-manager.io_certificates.yaml"],
  ...["podmonitors", "prometheusrules"].map((kind): [string, string] => [
    "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
  ]),
  ...["clusters", "databases"].map((kind): [string, string] => [
    "github.com/cloudnative-pg/cloudnative-pg@v1.28.0",
    `config/crd/bases/postgresql.cnpg.io_${kind}.yaml`,
  ]),
  ["github.com/argoproj/argo-cd/v3@v3.2.0", "manifests/crds/application-crd.yaml"],
  [
    "github.com/fluxcd/helm-controller@v1.4.0",
    "config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml",
  ],
  [
    "github.com/fluxcd/source-controller@v1.7.0",
    "config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml",
  ],
];

type Schema = Record<string, unknown>;

/** Downloads a module and returns its folder. */
async function moduleFolder(module: string, within: string): Promise<string> {
  const { code, output, errors } = await run("go", ["mod", "download", "-json", module], within);
  if (code !== 0) throw new Error(`${module} cannot be downloaded: ${output}${errors}`);
  const { Dir }: { Dir: string } = JSON.parse(output);
  return Dir;
}

/**
 * Disallows additional properties in every object schema that lists its properties, so that a misspelt property is an
 * error.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, closed(inner)]);
  const schema: Schema = Object.fromEntries(entries);
  const open = schema.additionalProperties ?? schema["x-kubernetes-preserve-unknown-fields"];
  if ("properties" in schema && open === undefined) schema.additionalProperties = false;
  // Quantities and ports are numbers or texts.
  if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string") {
    return { type: ["string", "integer"] };
  }
  return schema;
}

/** Returns `from` and the names of all definitions to which the definition `from` refers, directly or indirectly. */
function reachable(
  from: string,
  definitions: Readonly<Record<string, Schema>>,
  found: Set<string> = new Set(),
): Set<string> {
  if (found.has(from)) return found;
  found.add(from);
  const text = JSON.stringify(definitions[from] ?? {});
  for (const [, name = ""] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) {
    reachable(name, definitions, found);
  }
  return found;
}

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/**
 * Writes a schema for each kind to `folder`. Returns the pattern of the paths with which kubeconform finds the schemas.
 */
export async function writeKubernetesSchemas(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  // The core kinds have no group; kubeconform uses the version in its place.
  const name = ({ group, version, kind }: GroupVersionKind) =>
    `${kind.toLowerCase()}-${group || version}-${version}.json`;
  const write = (kind: GroupVersionKind, schema: unknown) =>
    writeFileSync(path.join(folder, name(kind)), JSON.stringify(schema));

  const kubernetes = await moduleFolder(KUBERNETES, folder);
  const swagger: { definitions: Record<string, Schema> } = JSON.parse(
    readFileSync(path.join(kubernetes, "api/openapi-spec/swagger.json"), "utf8"),
  );
  const definitions: Record<string, Schema> = JSON.parse(
    JSON.stringify(closed(swagger.definitions)),
  );
  definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] = { type: ["string", "number"] };
  definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = { type: ["string", "integer"] };
  for (const [id, definition] of Object.entries(definitions)) {
    const kinds: GroupVersionKind[] = JSON.parse(
      JSON.stringify(definition["x-kubernetes-group-version-kind"] ?? []),
    );
    const [kind] = kinds;
    if (kinds.length === 1 && kind) {
      const used = Object.fromEntries(
        [...reachable(id, definitions)].map((name) => [name, definitions[name]]),
      );
      write(kind, { $ref: `#/definitions/${id}`, definitions: used });
    }
  }

  for (const text of await customResourceDefinitions(folder)) {
    for (const document of parseAllDocuments(text)) {
      const { spec }: CustomResourceDefinition = document.toJS();
      for (const { name: version, schema } of spec.versions) {
        const { properties, ...rest } = schema.openAPIV3Schema;
        const own: Schema = { ...properties, metadata: { type: "object" } };
        const kind = { group: spec.group, version, kind: spec.names.kind };
        write(kind, closed({ ...rest, properties: own }));
      }
    }
  }
  return `${folder}/{{ .ResourceKind }}-{{ .Group }}-{{ .ResourceAPIVersion }}.json`;
}

/** Returns the definitions of the custom resources, as YAML. `within` is any existing folder: `go` runs there. */
export async function customResourceDefinitions(within: string): Promise<string[]> {
  const manifests: string[] = [];
  for (const [module, file] of definitionFiles) {
    manifests.push(readFileSync(path.join(await moduleFolder(module, within), file), "utf8"));
  }
  return manifests;
}

interface CustomResourceDefinition {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: { properties: Schema } } }[];
  };
}
