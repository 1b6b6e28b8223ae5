import { expect, test } from "vitest";
import { JsonText, stringify } from "./json-text.ts";

test("JSON text is copied unchanged, in its order", () => {
  const value = {
    first: new JsonText('{"a": 1.0}'),
    text: "$& $1",
    list: [new JsonText("[12345678901234567890]"), null, new JsonText('"$&"')],
    absent: undefined,
  };
  expect(stringify(value)).toBe(
    '{"first":{"a": 1.0},"text":"$& $1","list":[[12345678901234567890],null,"$&"]}',
  );
  expect(stringify({ a: "b" })).toBe('{"a":"b"}');
});
