import {
  type Extraction,
  type ResourceCounts,
  type ResourceInstance,
  StateFileError,
  type StateResource,
} from "../extraction/domain.ts";
import { type FoundResource, instancesOf, isBillable } from "./resource-instance-domain.ts";

type Inventory = Pick<
  Extraction,
  "resources" | "modules" | "providers" | "resourceCount" | "billableCount" | "instances"
>;

/**
 * Maximum length of a state's resource lists, in characters. Longer lists would not fit into a gRPC message or a
 * database row, so the state is refused.
 */
const MAX_LISTED_CHARACTERS = 128 * 1024 * 1024;

/**
 * Counts and lists the resources of a state. The list and the counts by module and provider include data sources; all
 * other values cover managed resources only.
 */
export class ResourceTally {
  readonly #modules = new Counts();
  readonly #providers = new Counts();
  readonly #resources: StateResource[] = [];
  readonly #instances = new Map<string, ResourceInstance>();
  #resourceCount = 0;
  #billableCount = 0;
  #length = 0;
  #fault: StateFileError | undefined;

  /**
   * Adds the resources that `find` returns. If `find` throws a `StateFileError`, it is kept and thrown when the
   * inventory is read.
   */
  take(find: () => readonly FoundResource[]): void {
    try {
      for (const resource of find()) this.#add(resource);
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error;
      this.refuse(error);
    }
  }

  refuse(fault: StateFileError): void {
    this.#fault ??= fault;
  }

  inventory(): Inventory {
    if (this.#fault) throw this.#fault;
    return {
      resources: this.#resources,
      modules: this.#modules.toObject(),
      providers: this.#providers.toObject(),
      resourceCount: this.#resourceCount,
      billableCount: this.#billableCount,
      instances: [...this.#instances.values()],
    };
  }

  #add(resource: FoundResource): void {
    const { managed, name, type, module, provider } = resource;
    const count = resource.instances.length;
    if (count === 0 || this.#fault) return;
    this.#spend(resource);
    const shown = managed ? type : `data.${type}`;
    const counted = shown.replaceAll("_", "-");
    this.#modules.add(module, counted, count);
    if (provider !== "") this.#providers.add(provider, counted, count);
    this.#resources.push({ name, type: shown, count, module, provider });
    if (!managed) return;
    this.#resourceCount += count;
    if (isBillable(type)) this.#billableCount += count;
    for (const instance of instancesOf(resource)) this.#instances.set(instance.address, instance);
  }

  #spend({ name, type, module, provider, instances, managed }: FoundResource): void {
    const each = name.length + type.length + module.length + provider.length + 100;
    this.#length += each * (managed ? 1 + instances.length : 1);
    if (this.#length > MAX_LISTED_CHARACTERS) {
      throw new StateFileError("the state contains more resources than can be listed");
    }
  }
}

/**
 * Counts the resources of each type in each group. Uses maps, because names come from the file: `__proto__` must be a
 * key like any other.
 */
class Counts {
  readonly #groups = new Map<string, Map<string, number>>();

  add(group: string, type: string, count: number): void {
    const types = this.#groups.get(group) ?? new Map<string, number>();
    this.#groups.set(group, types.set(type, (types.get(type) ?? 0) + count));
  }

  toObject(): ResourceCounts {
    return Object.fromEntries(
      Array.from(this.#groups, ([group, types]) => [group, Object.fromEntries(types)]),
    );
  }
}
