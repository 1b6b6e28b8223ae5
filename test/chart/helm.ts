import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { findProgram, missingProgram } from "@statehouse/local-services";
import { temporaryFolder } from "@statehouse/testing";
import { parseAllDocuments } from "yaml";

export const chart = path.resolve(import.meta.dirname, "../../helm/statehouse");
export const minimal = path.join(chart, "examples/minimal.yaml");

/** The names of the programs of Helm 4 and Helm 3. */
export const helms = ["helm", "helm-3"] as const;
export type HelmName = (typeof helms)[number];

/** Values, or the path of a file that contains values. */
export type Values = string | Readonly<Record<string, unknown>>;

export interface Result {
  code: number;
  output: string;
  errors: string;
}

/** The parts of a rendered object that tests read. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: {
    template?: { metadata: Partial<KubernetesObject["metadata"]>; spec: PodSpec };
    jobTemplate?: { spec: { template: { spec: PodSpec } } };
    replicas?: number;
    clusterIP?: string;
    ports?: readonly { port: number; targetPort: string; appProtocol?: string }[];
  } & Partial<PodSpec>;
  data?: Record<string, string>;
}

export interface PodSpec {
  containers: readonly Container[];
  volumes: readonly Volume[];
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: readonly unknown[];
}

interface Volume {
  name: string;
  projected?: {
    sources: readonly {
      secret: { name: string; items: readonly { key: string; path: string }[] };
    }[];
  };
}

/** An HTTP probe of a container. Absent fields have the defaults of Kubernetes. */
export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
}

export interface Container {
  name: string;
  image: string;
  args: readonly string[];
  env: readonly { name: string; value?: string }[];
  ports?: readonly { name: string; containerPort: number }[];
  volumeMounts: readonly { name: string; mountPath: string }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
}

/**
 * Returns the path of a program that `npm run test:release` prepares. If it is missing, throws an error that explains
 * how to get it.
 */
export function program(name: Parameters<typeof findProgram>[0]): string {
  const found = findProgram(name);
  if (!found) throw new Error(missingProgram(name));
  return found;
}

/** Runs a program to its end. */
export const run = (file: string, args: readonly string[], cwd?: string): Promise<Result> =>
  new Promise((resolve) => {
    const options = { encoding: "utf8", maxBuffer: 64 * 1024 ** 2, cwd } as const;
    execFile(file, args, options, (error, output, errors) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      resolve({ code, output, errors });
    });
  });

/** Runs `helm template` with `values`; later values override earlier ones. */
export async function template(
  values: readonly Values[],
  { helm = "helm", args = [] }: { helm?: HelmName; args?: readonly string[] } = {},
): Promise<Result> {
  await using folder = await temporaryFolder();
  const files = values.map((value, index) => {
    if (typeof value === "string") return value;
    const file = path.join(folder.path, `${index}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  });
  const valueFiles = files.flatMap((file) => ["--values", file]);
  // Sets the version of Kubernetes, because a Helm that was built with `go install` has no correct default version.
  const release = [
    "template",
    "statehouse",
    chart,
    "--kube-version",
    "1.34",
    "--namespace",
    "tools",
  ];
  return await run(program(helm), [...release, ...valueFiles, ...args]);
}

/** Renders the chart with `values` in addition to those of minimal.yaml. If Helm fails, throws its error output. */
export async function render(
  values: Values = {},
  options: Parameters<typeof template>[1] = {},
): Promise<Rendered> {
  const { code, output, errors } = await template([minimal, values], options);
  if (code !== 0) throw new Error(errors);
  return rendered(output);
}

export interface Rendered {
  readonly text: string;
  readonly objects: readonly KubernetesObject[];
  /** Returns the only object of this kind and name; the prefix `statehouse-` of the release can be omitted. */
  get(kind: string, name: string): KubernetesObject;
  ofKind(kind: string): readonly KubernetesObject[];
}

export function rendered(text: string): Rendered {
  const objects = parseAllDocuments(text)
    .map((document): KubernetesObject | null => document.toJS())
    .filter((object) => object !== null);
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  return {
    text,
    objects,
    ofKind,
    get(kind, name) {
      const named = ofKind(kind).filter(({ metadata }) =>
        [name, `statehouse-${name}`].includes(metadata.name),
      );
      const [object] = named;
      if (!object || named.length > 1) throw new Error(`${named.length} ${kind} ${name}`);
      return object;
    },
  };
}

/** The specification of the pods that an object creates. */
export function podOf({ kind, metadata, spec }: KubernetesObject): PodSpec {
  const pod = spec?.jobTemplate?.spec.template.spec ?? spec?.template?.spec;
  if (!pod) throw new Error(`${kind} ${metadata.name} creates no pods`);
  return pod;
}

/** The container of Statehouse in the pods of an object. */
export function containerOf(object: KubernetesObject): Container {
  const container = podOf(object).containers.find(({ name }) => name === "statehouse");
  if (!container) throw new Error(`${object.metadata.name} has no container of Statehouse`);
  return container;
}

/** The environment variables of the Statehouse container in the pods of an object. */
export const environmentOf = (object: KubernetesObject): Readonly<Record<string, string>> =>
  Object.fromEntries(containerOf(object).env.map(({ name, value = "" }) => [name, value]));

/** The objects that create pods. */
export const workloads = ({ objects }: Rendered): readonly KubernetesObject[] =>
  objects.filter(({ spec }) => spec?.jobTemplate ?? spec?.template);
