import type { Route } from "../http/route.ts";
import type { JsonSchema } from "../jsonapi/shape.ts";
import recorded from "./examples.json" with { type: "json" };

// Examples of requests and resources, which a system test records.

const bodies: Readonly<Record<string, unknown>> = recorded.bodies;
const resources: Readonly<Record<string, unknown>> = recorded.resources;

/** Returns an object with the example of a request body as its member `example`; an empty object if there is none. */
export function exampleOfBody({ method, path }: Route): JsonSchema {
  const example = bodies[`${method} ${path}`];
  return example === undefined ? {} : { example };
}

/** Returns an object with the examples of a resource as its member `examples`; an empty object if there are none. */
export function examplesOfResource(name: string): JsonSchema {
  const example = resources[name];
  return example === undefined ? {} : { examples: [example] };
}
