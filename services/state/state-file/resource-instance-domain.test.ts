import { proves } from "@statehouse/testing/proves";
import { describe, expect, it, test } from "vitest";
import { extractStateFile } from "../test/extract.ts";
import { providerName } from "./resource-instance-domain.ts";

const instancesOf = (file: object) => extractStateFile(JSON.stringify(file)).instances;

const aws = 'provider["registry.terraform.io/hashicorp/aws"]';
const managed = (parts: object) => ({
  mode: "managed",
  type: "aws_instance",
  name: "web",
  provider: aws,
  ...parts,
});

describe("the instances of a state", () => {
  it("have the addresses that plans use", () => {
    proves("Workspace resources/GET /workspaces/:id/resources");
    const found = instancesOf({
      version: 4,
      resources: [
        managed({ instances: [{}] }),
        managed({ name: "counted", instances: [{ index_key: 0 }, { index_key: 1 }] }),
        managed({ name: "each", module: 'module.net["a"]', instances: [{ index_key: 'x"y' }] }),
        managed({ mode: "data", instances: [{}] }),
      ],
    });
    expect(found.map(({ address, nameIndex, module }) => [address, nameIndex, module])).toEqual([
      ["aws_instance.web", null, "root"],
      ["aws_instance.counted[0]", "0", "root"],
      ["aws_instance.counted[1]", "1", "root"],
      ['net["a"].aws_instance.each["x\\"y"]', 'x"y', 'net["a"]'],
    ]);
    expect(found[0]).toMatchObject({
      name: "web",
      type: "aws_instance",
      provider: "hashicorp/aws",
    });
  });

  it("omit deposed instances and contain each address once", () => {
    const found = instancesOf({
      version: 4,
      resources: [
        managed({ instances: [{ attributes: { id: "new" } }, { deposed: "0a1b2c3d" }] }),
        managed({ instances: [{ attributes: { id: "again" } }] }),
      ],
    });
    expect(found.map(({ address }) => address)).toEqual(["aws_instance.web"]);
  });

  it("have a digest of their content, independent of number formats", () => {
    const digestOf = (id: string, outputs: object) =>
      instancesOf({
        version: 4,
        outputs,
        resources: [managed({ instances: [{ attributes: { id, size: 1.5 } }] })],
      })[0]?.digest;
    const digest = digestOf("a", {});
    expect(digestOf("a", { n: { value: 1.5, type: "number" } })).toBe(digest);
    expect(digestOf("b", {})).not.toBe(digest);
  });

  it("are also read from format 3", () => {
    const found = instancesOf({
      version: 3,
      modules: [
        {
          path: ["root", "net"],
          resources: {
            "aws_instance.web.1": { type: "aws_instance", provider: "provider.aws.west" },
            "data.aws_ami.base": { type: "aws_ami", provider: "provider.aws" },
          },
        },
      ],
    });
    expect(found).toMatchObject([
      {
        address: "net.aws_instance.web[1]",
        nameIndex: "1",
        module: "net",
        provider: "aws",
      },
    ]);
  });
});

test("resources that represent no infrastructure are not billed", () => {
  proves("State version/billable-rum-count");
  const found = extractStateFile(
    JSON.stringify({
      version: 4,
      resources: [
        managed({ instances: [{}, {}] }),
        managed({ type: "null_resource", instances: [{}] }),
        managed({ type: "terraform_data", instances: [{}] }),
        managed({ mode: "data", instances: [{}] }),
      ],
    }),
  );
  expect([found.resourceCount, found.billableCount]).toEqual([4, 2]);
});

test.each([
  [aws, "hashicorp/aws"],
  [`${aws}.west`, "hashicorp/aws"],
  [`module.net.${aws}`, "hashicorp/aws"],
  ['provider["terraform.io/builtin/terraform"]', "builtin/terraform"],
  ["provider.null", "null"],
  ["module.net.provider.aws.west", "aws"],
  ["anything", "anything"],
  ["", ""],
])("the provider of %s is %s", (address, name) => {
  expect(providerName(address)).toBe(name);
});
