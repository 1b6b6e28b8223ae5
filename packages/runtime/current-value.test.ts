import { expect, test } from "vitest";
import { currentOf, derivedFrom } from "./current-value.ts";

test("a value that can change is derived again only after it has changed", () => {
  let value = "a";
  const derivations: string[] = [];
  const derived = derivedFrom(
    () => value,
    (text) => {
      derivations.push(text);
      if (text === "") throw new Error("empty");
      return { text };
    },
  );
  expect(derived()).toBe(derived());
  value = "b";
  expect(derived()).toEqual({ text: "b" });
  value = "";
  expect(() => derived()).toThrow("empty");
  value = "b";
  expect(derived()).toEqual({ text: "b" });
  expect(derivations).toEqual(["a", "b", ""]);
});

test("a value that cannot change is its own current value", () => {
  expect(currentOf("a")()).toBe("a");
  expect(currentOf(() => "a")()).toBe("a");
});
