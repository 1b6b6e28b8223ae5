import type { Profiler } from "node:inspector";
import { Session } from "node:inspector/promises";
import path from "node:path";

/** How much CPU time one layer of the program used. */
export interface LayerTime {
  layer: string;
  /** Share of the time in which the process was not idle. */
  share: number;
}

const root = path.resolve(import.meta.dirname, "../..");
const SAMPLE_MICROS = 500;
/** The layer of the bench's own code, whose time is not counted. */
const MEASURING = "measuring";

/** Profiles this process while `work` runs; returns the layers by share, largest first. */
export async function profileByLayer(work: () => Promise<unknown>): Promise<LayerTime[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_MICROS });
    await session.post("Profiler.start");
    await work();
    const { profile } = await session.post("Profiler.stop");
    return timeByLayer(profile);
  } finally {
    session.disconnect();
  }
}

function timeByLayer(profile: Profiler.Profile): LayerTime[] {
  const layers = layersOf(profile.nodes);
  const micros = new Map<string, number>();
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const layer = layers.get(id);
    if (!layer || layer === MEASURING) continue;
    micros.set(layer, (micros.get(layer) ?? 0) + (profile.timeDeltas?.[index] ?? 0));
  }
  const total = [...micros.values()].reduce((sum, part) => sum + part, 0);
  return [...micros]
    .map(([layer, part]) => ({ layer, share: part / total }))
    .toSorted((a, b) => b.share - a.share);
}

/**
 * Assigns each node of the profile to a layer. Code of Node.js itself belongs to the layer of the code that called it,
 * or to "node: http, sockets, loop" if no other code called it.
 */
function layersOf(nodes: readonly Profiler.ProfileNode[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const layers = new Map<number, string>();
  const walk = (node: Profiler.ProfileNode, inherited: string): void => {
    const own = layerOf(node, inherited);
    if (own) layers.set(node.id, own);
    for (const child of node.children ?? []) {
      const next = byId.get(child);
      if (next) walk(next, own ?? inherited);
    }
  };
  const [first] = nodes;
  if (first) walk(first, "node: http, sockets, loop");
  return layers;
}

function layerOf({ callFrame }: Profiler.ProfileNode, inherited: string): string | undefined {
  const { functionName, url } = callFrame;
  if (functionName === "(idle)") return undefined;
  if (inherited === MEASURING) return MEASURING;
  if (functionName === "(garbage collector)") return "garbage collection";
  if (!url.startsWith("file:")) return inherited;
  const file = path.relative(root, new URL(url).pathname);
  const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  if (dependency) return dependency.startsWith("@opentelemetry/") ? "@opentelemetry" : dependency;
  if (file.startsWith("test/bench/")) return MEASURING;
  return file.split("/").slice(0, 2).join("/");
}
