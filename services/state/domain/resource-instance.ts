import { createHash } from "node:crypto";
import { type ResourceInstance, storable } from "./extraction.ts";

/** A resource as a file format describes it. */
export interface FoundResource {
  name: string;
  type: string;
  module: string;
  provider: string;
  managed: boolean;
  instances: FoundInstance[];
}

export interface FoundInstance {
  /** A number with `count`, a text with `for_each`; null if the resource has neither. */
  index: unknown;
  /** Set for an instance that was replaced and not destroyed yet; another instance has its address. */
  deposed: boolean;
  /** The instance's complete content in the state. */
  content: unknown;
}

/** Resources of these types represent no infrastructure. */
const unbilledTypes: ReadonlySet<string> = new Set(["null_resource", "terraform_data"]);

export const isBillable = (type: string): boolean => !unbilledTypes.has(type);

/** The instances of a managed resource, with their addresses in plans. */
export function instancesOf(resource: FoundResource): ResourceInstance[] {
  const { name, type, module } = resource;
  const path = module === "root" ? "" : `${module}.`;
  const provider = providerName(resource.provider);
  return resource.instances.flatMap(({ index, deposed, content }) => {
    if (deposed) return [];
    const key = indexOf(index);
    return {
      address: `${path}${type}.${name}${key.suffix}`,
      name,
      module,
      provider,
      type,
      nameIndex: key.text,
      digest: createHash("sha256")
        .update(JSON.stringify(content) ?? "")
        .digest("base64url"),
    };
  });
}

function indexOf(index: unknown): { text: string | null; suffix: string } {
  if (typeof index === "number") return { text: String(index), suffix: `[${index}]` };
  if (typeof index !== "string") return { text: null, suffix: "" };
  const text = storable(index);
  return { text, suffix: `[${JSON.stringify(text)}]` };
}

/**
 * `hashicorp/aws` for `provider["registry.terraform.io/hashicorp/aws"].west`, `aws` for format 3's `provider.aws.west`;
 * anything else unchanged.
 */
export function providerName(address: string): string {
  const [, source] = /provider\["([^"]+)"\]/.exec(address) ?? [];
  if (source !== undefined) return source.split("/").slice(-2).join("/");
  const [, name] = /^(?:module\.[^.]+\.)*provider\.([^.]+)/.exec(address) ?? [];
  return name ?? address;
}
