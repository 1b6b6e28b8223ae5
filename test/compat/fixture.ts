import { cliHost } from "@statehouse/standalone/cli-configuration";
import { type Api, api } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import type { Person } from "../stack/people.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import { type WorkingFolder, workingFolder } from "./command-line.ts";

/** A running stack with an organization. It creates folders in which the Terraform CLI uses that organization. */
export interface Fixture extends AsyncDisposable {
  readonly stack: Stack;
  readonly owner: Person;
  readonly organization: string;
  readonly api: Api;
  /** Creates a folder whose configuration consists of the `terraform` block `block`, followed by `body`. */
  folder(block: string, body?: string, env?: Record<string, string>): Promise<WorkingFolder>;
}

/** Starts a stack with `options` and creates an organization in it. */
export async function compatFixture(
  options: Parameters<typeof startStack>[0] = {},
): Promise<Fixture> {
  await using disposing = new AsyncDisposableStack();
  const stack = disposing.use(await startStack(options));
  const owner = await stack.people.newUser();
  const client = api(stack.url, owner.token);
  const organization = await newOrganization(client);
  const owned = disposing.move();
  return {
    stack,
    owner,
    organization,
    api: client,
    folder: async (block, body = example, env = {}) =>
      owned.use(
        await workingFolder({
          url: stack.url,
          token: owner.token,
          configuration: `${block}\n${body}`,
          env,
        }),
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns a `terraform` block with the `cloud` integration. `workspaces` is the content of its `workspaces` block. */
export const cloud = (organization: string, workspaces: string) => `terraform {
  cloud {
    hostname     = "${cliHost}"
    organization = "${organization}"
    workspaces {
      ${workspaces}
    }
  }
}
`;

/** Returns a `terraform` block with the older `remote` backend. */
export const remote = (organization: string, workspaces: string) => `terraform {
  backend "remote" {
    hostname     = "${cliHost}"
    organization = "${organization}"
    workspaces {
      ${workspaces}
    }
  }
}
`;

/** A configuration with a resource of the engine itself and an output of every type. It needs no provider download. */
export const example = `
variable "greeting" {
  type    = string
  default = "hello"
}
resource "terraform_data" "one" {
  input = var.greeting
}
resource "terraform_data" "counted" {
  count = 2
  input = count.index
}
output "text" { value = terraform_data.one.output }
output "number" { value = 3.5 }
output "flag" { value = true }
output "nothing" { value = null }
output "list" { value = tolist(["a", "b"]) }
output "set" { value = toset(["b", "a"]) }
output "map" { value = tomap({ a = 1, b = 2 }) }
output "object" { value = { name = "n", nested = { list = [1, "two", false] } } }
output "tuple" { value = [1, "two", { three = 3 }] }
output "unicode" { value = "Zoë ✓ <&>" }
output "secret" {
  value     = { password = "hunter2" }
  sensitive = true
}
`;

/** The values of the outputs that `terraform output -json` prints for `example`. */
export const exampleOutputs = {
  text: "hello",
  number: 3.5,
  flag: true,
  list: ["a", "b"],
  set: ["a", "b"],
  map: { a: 1, b: 2 },
  object: { name: "n", nested: { list: [1, "two", false] } },
  tuple: [1, "two", { three: 3 }],
  unicode: "Zoë ✓ <&>",
  secret: { password: "hunter2" },
};
