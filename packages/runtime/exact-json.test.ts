import { expect, test } from "vitest";
import { parseExactJson } from "./exact-json.ts";

test.each(["12345678901234567890", '{"a":[1.10,1e400,-0.5,"1.10",null]}', '"é\\n"', "true"])(
  "%s keeps its text when parsed and written again",
  (text) => {
    expect(JSON.stringify(parseExactJson(text))).toBe(text);
  },
);
