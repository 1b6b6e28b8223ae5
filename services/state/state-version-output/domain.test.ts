import { Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { outputsFrom, parseJsonStateOutputs } from "./domain.ts";

const parse = (text: string) => {
  const problems = new Problems();
  const outputs = parseJsonStateOutputs(new TextEncoder().encode(text), problems);
  problems.throwIfAny();
  return outputs ?? [];
};

test.each([
  ['"string"', '"v"', "string"],
  ['"number"', "1.0", "number"],
  ['"bool"', "true", "bool"],
  ['["list","string"]', '["a"]', "array"],
  ['["set","string"]', '["a"]', "array"],
  ['["tuple",["string","number"]]', '["a",10000000000000000000001]', "array"],
  ['["map","string"]', '{"k":"v"}', "map"],
  ['["object",{"k":"string"}]', '{"k":"v"}', "object"],
  ['"dynamic"', "null", "dynamic"],
  ['["map",["object",{"k":["list",["set","number"]]}]]', '{"a":{"k":[[1.50]]}}', "map"],
  ['["toString","x"]', '"v"', "dynamic"],
  ['"constructor"', '"v"', "dynamic"],
  ["[]", '"v"', "dynamic"],
  ['{"x":1}', '"v"', "dynamic"],
])("type %s with value %s is shown as %s, with the value unchanged", (type, value, shown) => {
  proves("Outputs/type and detailed-type for every nesting");
  expect(parse(`{"o":{"type":${type},"value":${value}}}`)).toEqual([
    { name: "o", sensitive: false, type: shown, detailedTypeJson: type, valueJson: value },
  ]);
});

test("a missing type is inferred from the value", () => {
  proves("Outputs/type and detailed-type for every nesting");
  const [output] = parse('{"o":{"sensitive":true,"value":{"a":[1,true],"b":"x"}}}');
  expect(output).toMatchObject({ sensitive: true, type: "object" });
  expect(output?.detailedTypeJson).toBe(
    '["object",{"a":["tuple",["number","bool"]],"b":"string"}]',
  );
});

test.each([["[]"], ["1"], ["{"], ["null"], ['{"o":1}'], ["\u{0}"]])("%j is refused", (text) => {
  expect(() => parse(text)).toThrow("Json state outputs must be");
});

test("an empty object has no outputs", () => {
  expect(outputsFrom({})).toEqual([]);
});
