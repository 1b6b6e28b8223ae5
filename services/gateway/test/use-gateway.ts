import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { conflict, forbidden, invalid, notFound, unauthenticated } from "@statehouse/errors";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { createRpcServer, type ServiceBinding } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { newServiceKeys } from "@statehouse/testing";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { configSchema } from "../config.ts";
import { service } from "../service.ts";

const REQUEST_TIMEOUT_S = 3;

/** The bytes of a state, for tests that create a state version. */
export const state = Buffer.from('{"version":4}');
export const md5 = createHash("md5").update(state).digest("hex");

/** The requests that reached the services and the object server since the start of the test. */
export const seen = {
  authenticated: 0,
  uploads: [] as [string, Buffer][],
  created: 0,
  uploaded: false,
  /** Whether the last request to create a workspace had `validateOnly` set. */
  validated: false,
};

const workspace = (id: string) => ({
  workspace: {
    id,
    name: "net",
    organizationName: "acme",
    organizationId: "org-1",
    projectId: "prj-1",
  },
});
const version = () => ({
  id: "sv-1",
  workspaceId: "ws-1",
  status: seen.uploaded ? "finalized" : "pending",
  md5,
  resourcesJson: "[]",
});

const methodsOf: [DescService, ServiceBinding<object>["methods"]][] = [
  [
    AuthenticationService,
    {
      authenticate: async ({ token }: { token: string }) => {
        seen.authenticated++;
        const type = token.startsWith("organization") ? "organization" : "user";
        if (!token.endsWith("good")) throw unauthenticated();
        return { principal: { type, id: "user-1", versions: "1" } };
      },
      batchAuthenticate: async ({ tokens }: { tokens: string[] }) => {
        seen.authenticated++;
        const found = tokens.flatMap((token, position) =>
          token.endsWith("good")
            ? [{ position, principal: { type: "user", id: "user-1", versions: "1" } }]
            : [],
        );
        return { found };
      },
      recordRefusal: async () => ({}),
    },
  ],
  [
    WorkspaceService,
    {
      getWorkspace: async ({ workspace: ref }: { workspace?: { by: { value?: unknown } } }) => {
        const id = String(ref?.by.value);
        if (id === "ws-gone") throw notFound("workspace");
        if (id === "ws-broken") throw new Error("a secret cause");
        if (id === "ws-slow") await pause(2 * REQUEST_TIMEOUT_S * 1000, undefined, { ref: false });
        return workspace(id);
      },
      createWorkspace: async ({ validateOnly }: { validateOnly: boolean }) => {
        seen.validated = validateOnly;
        throw invalid([
          { field: "name", detail: "Name has already been taken" },
          { field: "vcsRepo.appInstallationId", detail: "Vcs app installation id is invalid" },
        ]);
      },
      updateWorkspace: async () => {
        throw forbidden("not_allowed", "a secret refusal");
      },
      deleteWorkspace: async () => {
        throw forbidden("not_allowed", "Only owners may.");
      },
      safeDeleteWorkspace: async () => ({}),
      listWorkspaces: async () => ({ workspaces: [workspace("ws-1").workspace], totalCount: 45 }),
    },
  ],
  [
    WorkspaceLockService,
    {
      lockWorkspace: async ({ workspaceId, reason }: { workspaceId: string; reason: string }) => {
        if (reason === "taken") throw conflict("workspace_locked", "is locked by User Zoë");
        const { workspace: unlocked } = workspace(workspaceId);
        return {
          workspace: { ...unlocked, lock: { holderType: "user", holderId: "user-1", reason } },
        };
      },
    },
  ],
  [
    StateVersionOutputService,
    {
      listCurrentOutputs: async ({ pageSize }: { pageSize: number }) => {
        const names = Array.from({ length: 45 }, (_, n) => `output-${n}`);
        const outputs = (pageSize === 0 ? names : names.slice(0, pageSize)).map((name) => ({
          id: `wsout-${name}`,
          name,
          type: "number",
          valueJson: "12345678901234567890",
        }));
        return { outputs, totalCount: names.length };
      },
      getStateVersionOutput: async ({ id }: { id: string }) => ({
        output: {
          id,
          name: "password",
          sensitive: true,
          type: "string",
          valueJson: `"${"x".repeat(2000)}"`,
        },
      }),
    },
  ],
  [
    StateVersionService,
    {
      createStateVersion: async () => {
        seen.created++;
        return {
          stateVersion: version(),
          internalUploadPath: "/v1/object/raw",
          internalJsonUploadPath: "/v1/object/json",
        };
      },
      getStateVersion: async ({ id }: { id: string }) => ({
        stateVersion:
          id === "sv-pending"
            ? { ...version(), id, uploadUrl: "http://statehouse.test/v1/object/token" }
            : version(),
      }),
    },
  ],
];

const bindings = methodsOf.map(([desc, methods]): ServiceBinding<object> => {
  const unexpected = async () => {
    throw new Error("not used by these tests");
  };
  const all = desc.methods.map(({ localName }) => [localName, methods[localName] ?? unexpected]);
  return { desc, methods: Object.fromEntries(all) };
});

/** Lines of the gateway's log since the start of the test. */
export const logged: string[] = [];

let stack: AsyncDisposableStack;
let base: string;
let ops: string;

/**
 * Starts a gateway for a test file. The services behind it return minimal responses that suffice to test the gateway;
 * test/system uses the real services. `settings` are added to the gateway's default settings.
 */
export function useGateway(settings: Record<string, string> = {}): void {
  beforeAll(async () => {
    stack = new AsyncDisposableStack();
    const { publicKeys, settingsOf } = await newServiceKeys("gateway");
    const serve = (name: string) =>
      stack.use(
        createRpcServer({
          name,
          bindings,
          keys: publicKeys,
          context: async () => ({}),
          logger: createLogger({ service: name, level: "silent" }),
        }),
      );
    const [access, workspaces, stateService] = [
      serve("access"),
      serve("workspaces"),
      serve("state"),
    ];
    const gateway = stack.use(
      await service.start(
        configSchema.parse({
          HOST: "127.0.0.1",
          PORT: 0,
          OPS_PORT: 0,
          PUBLIC_URL: "http://statehouse.test",
          STATE_OBJECT_URL: `http://127.0.0.1:${await objectServer()}`,
          ASSERTION_PRIVATE_KEY: settingsOf("gateway").ASSERTION_PRIVATE_KEY,
          TRUSTED_PROXIES: "127.0.0.0/8",
          GRPC_TLS: "off",
          MAX_BODY_BYTES: 10_000,
          REQUEST_TIMEOUT: REQUEST_TIMEOUT_S,
          ...settings,
        }),
        {
          logger: createLogger({
            service: "gateway",
            destination: { write: (line) => void logged.push(line) },
          }),
          channels: {
            access: access.inProcess(),
            workspaces: workspaces.inProcess(),
            state: stateService.inProcess(),
          },
        },
      ),
    );
    base = `http://127.0.0.1:${gateway.ports?.http}`;
    ops = `http://127.0.0.1:${gateway.ports?.ops}`;
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(() => {
    Object.assign(seen, {
      authenticated: 0,
      uploads: [],
      created: 0,
      uploaded: false,
      validated: false,
    });
    logged.length = 0;
  });
}

/** Starts an object server that accepts every upload; returns its port. */
async function objectServer(): Promise<number> {
  const objects = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    seen.uploads.push([request.url ?? "", Buffer.concat(chunks)]);
    seen.uploaded = true;
    response.end();
  });
  stack.defer(() => void objects.close());
  await new Promise<void>((resolve) => objects.listen(0, "127.0.0.1", resolve));
  return (objects.address() as AddressInfo).port;
}

/** Sends a request with a token. A string body is sent unchanged; any other body is sent as JSON. */
export async function ask(
  method: string,
  path: string,
  body?: unknown,
  token = "good",
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/vnd.api+json",
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json:
      text && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : undefined,
  };
}

/** Sends a request without a token, with only these headers. */
export const fetchFrom = (
  listener: "http" | "ops",
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> => fetch(`${listener === "http" ? base : ops}${path}`, { headers });
