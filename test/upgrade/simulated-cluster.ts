import { setTimeout as pause } from "node:timers/promises";
import { podOf, type Rendered } from "../chart/helm.ts";
import type { Secret } from "../kubernetes/installation.ts";
import { type Process, startProcess } from "./container.ts";
import { createNetwork, type Network } from "./network.ts";
import { type Pod, startPod } from "./pod.ts";

/**
 * Does what Kubernetes does with the objects of the chart, with processes in place of containers: it repeats failed
 * Jobs, replaces the pods of Deployments one at a time, runs probes, and serves Services that use a changed set of
 * ready pods only after a delay.
 */
export interface SimulatedCluster extends AsyncDisposable {
  readonly network: Network;
  /** Replaces all objects, as `helm upgrade` and `helm rollback` do. */
  apply(rendered: Rendered): Promise<void>;
  /** Whether every Deployment has only ready pods of its current template, and every Service knows them. */
  complete(): boolean;
  /** The pods of a component that are not being stopped. */
  podsOf(component: string): readonly Pod[];
  /** Number of attempts of each Job, keyed by its component. */
  readonly attempts: ReadonlyMap<string, number>;
  /** Runs a command with the environment of a component's pods; returns what it prints. */
  exec(component: string, ...args: string[]): Promise<string>;
  /**
   * Events that must not happen: processes that do not start, end by themselves or end with an error; restarts by the
   * liveness probe; and stops that take too long.
   */
  readonly problems: readonly string[];
}

interface Deployment {
  component: string;
  replicas: number;
  template: string;
  spec: ReturnType<typeof podOf>;
  pods: Pod[];
  announced: string;
}

interface ClusterOptions {
  folder: string;
  secrets: readonly Secret[];
  /** The path of the command-line program, keyed by image. */
  programs: Readonly<Record<string, string>>;
}

const TICK_MS = 100;
const JOB_BACKOFF_MS = 3000;

/** Starts a cluster without objects. */
export function startSimulatedCluster({
  folder,
  secrets,
  programs,
}: ClusterOptions): SimulatedCluster {
  const network = createNetwork(folder);
  const deployments = new Map<string, Deployment>();
  const jobs = new Map<string, { cancelled: boolean; process?: Process }>();
  const attempts = new Map<string, number>();
  const problems: string[] = [];
  let stopped = false;

  const optionsOf = (spec: ReturnType<typeof podOf>) => {
    const image = spec.containers[0]?.image ?? "";
    const program = programs[image];
    if (!program) throw new Error(`there is no image ${image}`);
    const { hosts, resolver } = network;
    return { program, secrets, folder, hosts, resolver };
  };

  const runJob = async (name: string, component: string, spec: ReturnType<typeof podOf>) => {
    const job: { cancelled: boolean; process?: Process } = { cancelled: false };
    jobs.set(name, job);
    const own = `${folder}/${name}`;
    while (!job.cancelled) {
      attempts.set(component, (attempts.get(component) ?? 0) + 1);
      const options = { ...optionsOf(spec), folder: own, ip: "127.0.0.1" };
      job.process = startProcess(spec, options);
      if ((await job.process.exit) === 0) return;
      await pause(JOB_BACKOFF_MS);
    }
  };

  /**
   * Runs one step of the controller: not counting pods that are being terminated, at most `replicas` + 1 pods run, and
   * a ready pod is terminated only if at least `replicas` other pods are ready.
   */
  const reconcile = (deployment: Deployment) => {
    const { component, replicas, template, spec } = deployment;
    deployment.pods = deployment.pods.filter(({ ended }) => !ended);
    const all = deployment.pods.filter(({ terminating }) => !terminating);
    const isCurrent = (pod: Pod) => JSON.stringify(pod.spec) === template;
    const current = all.filter(isCurrent);
    const previous = all.filter((pod) => !isCurrent(pod));
    let ready = all.filter((pod) => pod.ready).length;
    let spare = all.length - replicas - current.filter((pod) => !pod.ready).length;
    for (const pod of previous) {
      if (pod.ready ? ready <= replicas : spare <= 0) continue;
      if (pod.ready) ready--;
      spare--;
      pod.terminate();
    }
    const left = all.filter(({ terminating }) => !terminating).length;
    if (current.length < replicas && left < replicas + 1) {
      deployment.pods.push(
        startPod({
          ...optionsOf(spec),
          spec,
          ip: network.newAddress(),
          onChange: () => announce(deployment),
          onProblem: (problem) => void problems.push(`${component}: ${problem}`),
        }),
      );
    }
  };
  const announce = (deployment: Deployment) => {
    const addresses = deployment.pods
      .filter(({ ready, terminating, ended }) => ready && !terminating && !ended)
      .map(({ ip }) => ip);
    if (deployment.announced === addresses.join(" ")) return;
    deployment.announced = addresses.join(" ");
    network.announce(deployment.component, addresses);
  };
  const controller = (async () => {
    while (!stopped) {
      for (const deployment of deployments.values()) reconcile(deployment);
      await pause(TICK_MS);
    }
  })();

  return {
    network,
    attempts,
    problems,
    async apply(rendered) {
      if (deployments.size === 0) await network.serve(servicesOf(rendered));
      for (const object of rendered.ofKind("Deployment")) {
        const component = object.metadata.labels["app.kubernetes.io/component"] ?? "";
        const spec = podOf(object);
        const deployment = deployments.get(component) ?? { component, pods: [], announced: "" };
        deployments.set(
          component,
          Object.assign(deployment, {
            replicas: object.spec?.replicas ?? 1,
            template: JSON.stringify(spec),
            spec,
          }),
        );
      }
      const renderedJobs = rendered.ofKind("Job");
      for (const [name, job] of jobs) {
        if (renderedJobs.some(({ metadata }) => metadata.name === name)) continue;
        job.cancelled = true;
        job.process?.signal("KILL");
        jobs.delete(name);
      }
      for (const object of renderedJobs) {
        const { name, labels } = object.metadata;
        if (jobs.has(name)) continue;
        void runJob(name, labels["app.kubernetes.io/component"] ?? "", podOf(object));
      }
    },
    complete: () =>
      network.settled() &&
      [...deployments.values()].every(
        ({ pods, replicas, template }) =>
          pods.length === replicas &&
          pods.every((pod) => pod.ready && JSON.stringify(pod.spec) === template),
      ),
    podsOf: (component) =>
      deployments.get(component)?.pods.filter(({ terminating }) => !terminating) ?? [],
    async exec(component, ...args) {
      const deployment = deployments.get(component);
      if (!deployment) throw new Error(`there is no Deployment ${component}`);
      const options = { ...optionsOf(deployment.spec), ip: network.newAddress() };
      const own = { ...options, folder: `${folder}/exec-${options.ip}` };
      const { exit, output } = startProcess(deployment.spec, own, args);
      if ((await exit) !== 0) throw new Error(output());
      return output().trim();
    },
    async [Symbol.asyncDispose]() {
      stopped = true;
      await controller;
      for (const job of jobs.values()) {
        job.cancelled = true;
        job.process?.signal("KILL");
      }
      const pods = [...deployments.values()].flatMap((deployment) => deployment.pods);
      await Promise.all(pods.map((pod) => pod.destroy()));
      await network[Symbol.asyncDispose]();
    },
  };
}

/** The Services of a rendered chart. */
const servicesOf = (rendered: Rendered) =>
  rendered.ofKind("Service").map(({ metadata, spec }) => {
    const component = metadata.labels["app.kubernetes.io/component"] ?? "";
    const [port] = spec?.ports ?? [];
    const [container] = podOf(rendered.get("Deployment", component)).containers;
    const target = container?.ports?.find(({ name }) => name === port?.targetPort);
    return {
      name: metadata.name,
      component,
      port: port?.port ?? 0,
      targetPort: spec?.clusterIP === "None" ? undefined : target?.containerPort,
    };
  });
