import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { download } from "../stack/http.ts";
import { inlineState, md5Of, processedVersion, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, useFixture } from "./fixture.ts";

// Every uploaded byte is stored and returned, even if extraction fails.

const fixture = useFixture();

const nested = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
const output = (value: string) => `{"value":${value},"type":"string"}`;
const version4 = (members: string) => `{"version":4,"serial":1,"lineage":"l",${members}}`;

const strange: Record<string, string> = {
  "no JSON": 'resource "a" {}',
  "bytes that are no text": "\u00ff\u00fe\u0000",
  "an empty object": "{}",
  "a list": "[]",
  null: "null",
  "a format of the future": '{"version":99,"serial":1}',
  "a format beyond all numbers": '{"version":123456789012345678901234567890}',
  "a format beyond 32 bits": '{"version":9999999999}',
  "an engine version that is a number": version4('"terraform_version":1.11'),
  "an engine version with NUL": version4('"terraform_version":"1\\u0000"'),
  "a long engine version": version4(`"terraform_version":"${"9".repeat(100_000)}"`),
  "resources that are none": version4('"resources":{"a":1}'),
  "resources with null": version4('"resources":[null,3]'),
  "names with NUL": version4(
    '"resources":[{"mode":"managed","type":"a\\u0000","name":"\\u0000","module":"m\\u0000","provider":"p\\u0000","instances":[{}]}]',
  ),
  "names with half characters": version4(
    '"resources":[{"mode":"managed","type":"a\\ud800","name":"\\udc00","instances":[{}]}]',
  ),
  "names that mean something to JavaScript": version4(
    '"resources":[{"type":"__proto__","name":"constructor","module":"__proto__","provider":"toString","instances":[{}]}]',
  ),
  "an output whose name has NUL": version4(`"outputs":{"a\\u0000b":${output('"x"')}}`),
  "an output whose value has NUL": version4(`"outputs":{"a":${output('"x\\u0000"')}}`),
  "an output whose value has half a character": version4(`"outputs":{"a":${output('"\\ud800"')}}`),
  "an output whose type has NUL": version4('"outputs":{"a":{"value":1,"type":"s\\u0000"}}'),
  "an output of the name __proto__": version4(`"outputs":{"__proto__":${output('"x"')}}`),
  "an output without a name": version4(`"outputs":{"":${output('"x"')}}`),
  "an output with a long name": version4(`"outputs":{"${"n".repeat(20_000)}":${output('"x"')}}`),
  "an output of an unknown type": version4('"outputs":{"a":{"value":1,"type":["odd",{"x":1}]}}'),
  "outputs that are none": version4('"outputs":[1]'),
  "a deep output": version4(`"outputs":{"a":{"value":${nested(50_000)},"type":"dynamic"}}`),
  "a deep output without a type": version4(`"outputs":{"a":{"value":${nested(50_000)}}}`),
  "deep attributes": version4(
    `"resources":[{"type":"a","name":"b","instances":[{"attributes":${nested(50_000)}}]}]`,
  ),
};

test.concurrent.each(Object.entries(strange))(
  "%s is stored, and its extraction ends quickly",
  async (_, text) => {
    const { owner } = fixture();
    const bytes = Buffer.from(text);
    const { id } = await newLockedWorkspace(fixture());
    const state = { serial: 1, lineage: "l", bytes, md5: md5Of(bytes) };
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
    expect(created.status).toBe(201);
    expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(200);
    const data = await processedVersion(owner.api, created.body.data.id, { timeout: 20_000 });
    expect(data.attributes.status).toBe("finalized");
    const url = data.attributes["hosted-state-download-url"];
    expect((await download(url, owner.token)).bytes.equals(bytes)).toBe(true);
    for (const path of [
      `/workspaces/${id}/current-state-version-outputs`,
      `/workspaces/${id}?include=outputs`,
      `/state-versions/${created.body.data.id}?include=outputs`,
    ]) {
      expect((await owner.api.get(path)).status, path).toBe(200);
    }
  },
);

test("unusual outputs in a create request are refused or shown", async () => {
  proves("State version creation/json-state-outputs");
  const { owner } = fixture();
  const texts = [
    `{"a\\u0000b":${output('"x"')}}`,
    `{"a":${output('"x\\u0000"')}}`,
    `{"a":${output('"\\ud800"')}}`,
    `{"__proto__":${output("1")}}`,
    '{"a":{"value":1,"type":["toString","x"]},"b":{"value":1,"type":"constructor"}}',
    `{"a":{"value":${nested(50_000)}}}`,
    `{"a":{"value":${nested(50_000)},"type":"dynamic"}}`,
    "{}",
    "[",
  ];
  for (const text of texts) {
    const { id } = await newLockedWorkspace(fixture());
    const body = inlineState(stateFile(), {
      "json-state-outputs": Buffer.from(text).toString("base64"),
    });
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, body);
    expect([201, 422], text.slice(0, 60)).toContain(created.status);
    const outputs = await owner.api.get(`/workspaces/${id}/current-state-version-outputs`);
    expect(outputs.status, text.slice(0, 60)).toBe(200);
  }
});
