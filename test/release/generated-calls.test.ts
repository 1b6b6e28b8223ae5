import { routes } from "@statehouse/gateway/routes";
import { needs } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CallsFixture, createCallsFixture } from "../generated-calls/fixture.ts";
import { generatedCalls } from "../generated-calls/schemathesis.ts";
import { type Stack, startStack } from "../stack/stack.ts";

/** Number of generated requests for each operation. `npm run test:calls` makes 10,000 calls as each caller instead. */
const EXAMPLES = 1;
const TIME_MS = 600_000;

/** Schemathesis does not call the operation that returns the document itself. */
const described = routes
  .filter(({ path }) => path !== "/openapi/stable.json")
  .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
  .toSorted();
/** Statuses that each caller must receive, as evidence that its calls reach both permitted and forbidden operations. */
const expected = { anonymous: [200, 401], member: [200, 404, 422], owner: [200, 201, 204, 422] };

needs("nats-server", "schemathesis")("generated calls of every operation", () => {
  let stack: Stack;
  let fixture: CallsFixture;
  beforeAll(async () => {
    stack = await startStack();
    fixture = await createCallsFixture(stack, 1);
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  // The owner's calls come last, because they delete objects that the other callers need.
  test.each(["anonymous", "member", "owner"] as const)(
    "of %s get no 5xx and no response that the OpenAPI document does not describe",
    async (name) => {
      const { failures, operations, statuses } = await generatedCalls(stack.url, {
        token: fixture.tokens[name],
        pools: fixture.pools,
        examples: EXAMPLES,
        phases: ["fuzzing"],
        seed: 1,
      });
      expect(failures).toBe("");
      expect([...operations].toSorted()).toEqual(described);
      expect([...statuses.keys()]).toEqual(expect.arrayContaining(expected[name]));
    },
    TIME_MS,
  );
});
