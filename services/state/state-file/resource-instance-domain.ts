import { createHash } from "node:crypto";
import { type ResourceInstance, storable } from "../extraction/domain.ts";

/** A resource of a state, independent of the state's format version. */
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
  /** True for an instance that was replaced but not destroyed yet; its address belongs to its replacement. */
  deposed: boolean;
  /** The instance's complete content in the state. */
  content: unknown;
}

/** Resources of these types are not billed, because they represent no infrastructure. */
const unbilledTypes: ReadonlySet<string> = new Set(["null_resource", "terraform_data"]);

export const isBillable = (type: string): boolean => !unbilledTypes.has(type);

/**
 * Returns the instances of a managed resource that are not deposed. Addresses and modules have no `module.` prefixes.
 */
export function instancesOf(resource: FoundResource): ResourceInstance[] {
  const { name, type } = resource;
  const module = modulePath(resource.module);
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

// A step of a module's address: its name, and its index if the module has `count` or `for_each`.
const STEP = /module\.([^.[\]]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?)/g;

/** Returns the path of a module as clients read it: `a.b` for `module.a.module.b`. */
const modulePath = (address: string): string =>
  [...address.matchAll(STEP)].map(([, step]) => step).join(".") || "root";

function indexOf(index: unknown): { text: string | null; suffix: string } {
  if (typeof index === "number") return { text: String(index), suffix: `[${index}]` };
  if (typeof index !== "string") return { text: null, suffix: "" };
  const text = storable(index);
  return { text, suffix: `[${JSON.stringify(text)}]` };
}

/**
 * Returns `hashicorp/aws` for `provider["registry.terraform.io/hashicorp/aws"].west`, `aws` for format 3's
 * `provider.aws.west`, and any other address unchanged.
 */
export function providerName(address: string): string {
  const [, source] = /provider\["([^"]+)"\]/.exec(address) ?? [];
  if (source !== undefined) return source.split("/").slice(-2).join("/");
  const [, name] = /^(?:module\.[^.]+\.)*provider\.([^.]+)/.exec(address) ?? [];
  return name ?? address;
}
