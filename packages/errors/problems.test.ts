import { expect, test } from "vitest";
import { Problems } from "./problems.ts";

test("all problems of a request are thrown as one error", () => {
  const problems = new Problems();
  problems.throwIfAny();
  problems.add("name", "Name must not be empty.");
  problems.add("vcsRepo.identifier", "Identifier must have the form owner/repository.");
  expect(() => problems.throwIfAny()).toThrow(
    expect.objectContaining({
      kind: "invalid",
      fields: [
        { field: "name", detail: "Name must not be empty." },
        {
          field: "vcsRepo.identifier",
          detail: "Identifier must have the form owner/repository.",
        },
      ],
    }),
  );
});
