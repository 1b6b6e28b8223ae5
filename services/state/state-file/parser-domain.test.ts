import { proves } from "@statehouse/testing/proves";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StateFileError } from "../extraction/domain.ts";
import { extractStateFile } from "../test/extract.ts";
import { StateFile } from "./domain.ts";

const nullProvider = 'provider["registry.terraform.io/hashicorp/null"]';

const extract = (file: unknown) => extractStateFile(JSON.stringify(file));

const version4 = (parts: object = {}) =>
  extract({ version: 4, terraform_version: "1.11.0", serial: 7, lineage: "abc", ...parts });

describe("a state of format 4", () => {
  it("has a format version, engine version, serial and lineage", () => {
    proves("State version/engine-version, also as terraform-version");
    expect(version4()).toEqual({
      serial: 7n,
      lineage: "abc",
      formatVersion: 4,
      engineVersion: "1.11.0",
      resources: [],
      modules: {},
      providers: {},
      resourceCount: 0,
      billableCount: 0,
      instances: [],
      outputs: [],
      opaque: null,
    });
  });

  it("lists resources and data sources, and counts only managed resources", () => {
    proves("State version/modules, providers, resources");
    const found = version4({
      resources: [
        resource({ instances: [{}, { index_key: 1 }] }),
        resource({ module: "module.net.module.a[0]", name: "b", instances: [{}] }),
        resource({ mode: "data", type: "null_data_source", instances: [{}] }),
        resource({ name: "gone", instances: [] }),
      ],
    });
    expect(found.resources).toEqual([
      { name: "a", type: "null_resource", count: 2, module: "root", provider: nullProvider },
      {
        name: "b",
        type: "null_resource",
        count: 1,
        module: "module.net.module.a[0]",
        provider: nullProvider,
      },
      {
        name: "a",
        type: "data.null_data_source",
        count: 1,
        module: "root",
        provider: nullProvider,
      },
    ]);
    expect(found.resourceCount).toBe(3);
    expect(found.modules).toEqual({
      root: { "null-resource": 2, "data.null-data-source": 1 },
      "module.net.module.a[0]": { "null-resource": 1 },
    });
    expect(found.providers).toEqual({
      [nullProvider]: { "null-resource": 3, "data.null-data-source": 1 },
    });
  });

  it("can contain names of JavaScript's object properties", () => {
    const found = version4({
      resources: [
        resource({ type: "constructor", module: "toString" }),
        resource({ type: "__proto__", module: "__proto__" }),
      ],
    });
    expect(
      Object.entries(found.modules).map(([name, types]) => [name, Object.entries(types)]),
    ).toEqual([
      ["toString", [["constructor", 1]]],
      ["__proto__", [["--proto--", 1]]],
    ]);
  });

  it.each([
    ["string", '"string"', '"a"'],
    ["number", '"number"', "12345678901234567890.10"],
    ["bool", '"bool"', "true"],
    ["array", '["list","string"]', '["a","b"]'],
    ["array", '["set","number"]', "[1,2.50]"],
    ["array", '["tuple",["string",["list","bool"]]]', '["a",[true]]'],
    ["map", '["map","string"]', '{"a":"b"}'],
    ["object", '["object",{"a":"string","b":["map","number"]}]', '{"a":"x","b":{"c":1.0}}'],
    ["string", '"string"', "null"],
  ])("has an output %s of type %s with its value as written", (type, detailed, value) => {
    proves("Outputs/type and detailed-type for every nesting");
    const text = `{"version":4,"outputs":{"it":{"value":${value},"type":${detailed},"sensitive":true}}}`;
    expect(extractStateFile(text).outputs).toEqual([
      { name: "it", sensitive: true, type, detailedTypeJson: detailed, valueJson: value },
    ]);
  });

  it("has an output that is sensitive only if declared so", () => {
    const { outputs } = version4({ outputs: { it: { value: "a", type: "string" } } });
    expect(outputs[0]?.sensitive).toBe(false);
  });
});

describe("a state of format 3", () => {
  const found = extract({
    version: 3,
    terraform_version: "0.11.14",
    serial: 2,
    lineage: "abc",
    modules: [
      {
        path: ["root"],
        outputs: {
          ids: { sensitive: false, type: "list", value: ["a", "b"] },
          names: { sensitive: true, type: "map", value: { a: "b" } },
        },
        resources: {
          "null_resource.a.0": { type: "null_resource", provider: "provider.null" },
          "null_resource.a.1": { type: "null_resource", provider: "provider.null" },
          "data.null_data_source.b": { type: "null_data_source", provider: "provider.null" },
        },
      },
      {
        path: ["root", "net", "inner"],
        outputs: { hidden: { type: "string", value: "x" } },
        resources: { "null_resource.c": { type: "null_resource", provider: "provider.null" } },
      },
    ],
  });

  it("has resources counted by name, not by index", () => {
    proves("State version/modules, providers, resources");
    expect(found).toMatchObject({ formatVersion: 3, engineVersion: "0.11.14", serial: 2n });
    expect(found.resourceCount).toBe(3);
    expect(found.resources).toEqual([
      { name: "a", type: "null_resource", count: 2, module: "root", provider: "provider.null" },
      {
        name: "b",
        type: "data.null_data_source",
        count: 1,
        module: "root",
        provider: "provider.null",
      },
      {
        name: "c",
        type: "null_resource",
        count: 1,
        module: "module.net.module.inner",
        provider: "provider.null",
      },
    ]);
    expect(found.modules.root).toEqual({ "null-resource": 2, "data.null-data-source": 1 });
  });

  it("has the outputs of its root module, with types from their values", () => {
    proves("Outputs/type and detailed-type for every nesting");
    expect(found.outputs).toEqual([
      {
        name: "ids",
        sensitive: false,
        type: "array",
        detailedTypeJson: '["tuple",["string","string"]]',
        valueJson: '["a","b"]',
      },
      {
        name: "names",
        sensitive: true,
        type: "object",
        detailedTypeJson: '["object",{"a":"string"}]',
        valueJson: '{"a":"b"}',
      },
    ]);
  });

  it("may be empty", () => {
    expect(extract({ version: 3, serial: 1, modules: [] })).toMatchObject({
      outputs: [],
      resources: [],
      opaque: null,
    });
  });
});

describe("an unreadable state", () => {
  it("can be encrypted", () => {
    const found = extract({
      serial: 4,
      lineage: "abc",
      meta: { key_provider: "x" },
      encrypted_data: "AAAA",
      encryption_version: "v0",
    });
    expect(found).toMatchObject({ serial: 4n, lineage: "abc", formatVersion: null, resources: [] });
    expect(found.opaque).toMatch(/encrypted/);
  });

  it.each([5, 2, "4", null, undefined])("can have the format version %j", (version) => {
    proves("State version/state-version");
    expect(extract({ version, resources: "?" }).opaque).toMatch(/format/);
  });
});

describe("a streamed state", () => {
  const text = JSON.stringify({
    outputs: { name: { value: 'Zoë ✓ \u{1f600} \\ "', type: "string" } },
    resources: [resource({ name: "ä", instances: [{ attributes: { n: 1.5 } }] }), resource({})],
    check_results: [{ resources: ["no resource"], version: 3 }],
    terraform_version: "1.11.0",
    serial: 7,
    version: 4,
  });

  it("has the same result for all chunk sizes and member orders", () => {
    const whole = extractStateFile(text);
    expect(whole).toMatchObject({ serial: 7n, formatVersion: 4, resourceCount: 2 });
    for (const size of [1, 2, 3, 7, 1000]) expect(extractStateFile(text, size)).toEqual(whole);
  });

  it("uses the last of several lists with the same name", () => {
    const twice = `{"version":4,"resources":"?","resources":[${JSON.stringify(resource({}))}]}`;
    expect(extractStateFile(twice).resourceCount).toBe(1);
  });

  it("ends at its encrypted data, regardless of the rest", () => {
    proves("Extraction/encrypted and unknown formats");
    const text = `{"serial":4,"encrypted_data":"${"A".repeat(200_000)}`;
    expect(extractStateFile(text, 1000)).toMatchObject({ serial: 4n, resources: [] });
  });
});

describe("a file that is not a state", () => {
  it.each(["", "{", "null", "[]", '"4"', "4", "\u0000"])("is refused: %j", (text) => {
    expect(() => extractStateFile(text)).toThrow(StateFileError);
  });

  it.each([
    { resources: {} },
    { resources: [1] },
    { resources: [{ instances: "many" }] },
    { outputs: [] },
    { outputs: { it: "bare" } },
  ])("is refused for an invalid part: %j", (parts) => {
    expect(() => version4(parts)).toThrow(StateFileError);
  });

  it.each([
    '{"version":4}}',
    '{"version":4} x',
    '{"version":4',
    '{"version":4,}',
    '{"version":04}',
  ])("is refused for trailing or missing text: %s", (text) => {
    expect(() => extractStateFile(text)).toThrow(StateFileError);
  });

  it("is refused if it contains more than documents can show", () => {
    proves("Extraction/a poisonous file ends as processed, with a reason");
    const long = "x".repeat(1024 * 1024);
    const many = Array.from({ length: 130 }, () => resource({ name: long }));
    const file = new StateFile();
    file.setMember("version", 4);
    for (const one of many) file.addResource(one);
    expect(() => file.finish()).toThrow("more resources than can be listed");
    const outputs = { it: { value: "x".repeat(49 * 1024 * 1024), type: "string" } };
    expect(() => version4({ outputs })).toThrow("outputs are too large");
  });

  it("is refused immediately if it is nested too deeply", () => {
    proves("Extraction/a poisonous file ends as processed, with a reason");
    const deep = `{"version":4,"x":${"[".repeat(300_000)}`;
    expect(() => extractStateFile(deep)).toThrow("nested too deeply");
  });

  it("is not quoted in the reason", () => {
    expect(() => extractStateFile('{"password":"hunter2",')).toThrow(/^(?!.*hunter2)/s);
  });

  it("never makes extraction fail in another way", () => {
    proves("Extraction/a poisonous file ends as processed, with a reason");
    fc.assert(
      fc.property(fc.constantFrom(3, 4), fc.object(), (version, parts) => {
        try {
          extract({ ...parts, version });
        } catch (error) {
          expect(error).toBeInstanceOf(StateFileError);
        }
      }),
    );
  });
});

function resource(parts: object): object {
  return {
    mode: "managed",
    type: "null_resource",
    name: "a",
    provider: nullProvider,
    instances: [{}],
    ...parts,
  };
}
