import { readdirSync } from "node:fs";
import path from "node:path";
import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import {
  credentials,
  Client as GrpcClient,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { Principal } from "@statehouse/authorization";
import {
  GetWorkspaceRequestSchema,
  GetWorkspaceResponseSchema,
  WorkspaceService,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { createIdentity, generateAssertionKey } from "@statehouse/rpc";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { decodeJwt, importJWK, type JWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startProcesses } from "../stack/stack.ts";
import { newWorkspace, useStack } from "./fixture.ts";

// The services' ports are reachable from their network. These tests send requests to them without the gateway, and
// without TLS, so that the assertion alone decides whether a request is accepted.

const fixture = useStack(() => startProcesses({ grpcTls: "off" }));

const services = ["access", "workspaces", "state"] as const;
type ServiceName = (typeof services)[number];

/** Returns every declared method, so that new methods are tested too. */
async function declaredMethods(): Promise<DescMethod[]> {
  const folder = path.join(import.meta.dirname, "../../packages/proto/gen/statehouse");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const modules = await Promise.all(
    files.filter((file) => file.endsWith("_pb.js")).map((file) => import(path.join(folder, file))),
  );
  const isService = (value: unknown): value is DescService =>
    typeof value === "object" && value !== null && Reflect.get(value, "kind") === "service";
  return modules.flatMap((module) =>
    Object.values(module)
      .filter(isService)
      .flatMap(({ methods }) => methods),
  );
}

const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;

let clients: Record<ServiceName, GrpcClient>;
let gatewayKey: JWK;
beforeAll(() => {
  const { environments } = fixture().stack;
  const open = (name: ServiceName) =>
    new GrpcClient(`127.0.0.1:${environments[name].GRPC_PORT}`, credentials.createInsecure());
  clients = { access: open("access"), workspaces: open("workspaces"), state: open("state") };
  gatewayKey = JSON.parse(environments.gateway.ASSERTION_PRIVATE_KEY ?? "");
});
afterAll(() => {
  for (const client of Object.values(clients)) client.close();
});

/** Makes a call; returns its status and the bytes of its response. */
const call = (
  service: ServiceName,
  method: string,
  assertion: string | undefined,
  request = new Uint8Array(),
): Promise<{ code: status; answer?: Buffer | undefined }> =>
  new Promise((resolve) => {
    const metadata = new Metadata();
    if (assertion !== undefined) metadata.set("statehouse-assertion", assertion);
    clients[service].makeUnaryRequest(
      method,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer) => bytes,
      request,
      metadata,
      (error: ServiceError | null, answer?: Buffer) =>
        resolve({ code: error?.code ?? status.OK, answer }),
    );
  });

const user = (): Principal => ({ type: "user", id: fixture().owner.id, versions: "1" });

/** Returns an assertion signed with the gateway's key, with the given changes. */
const signed = async (
  claims: Record<string, unknown> = {},
  {
    key = gatewayKey,
    header = {},
    lifetime = "60s",
  }: { key?: JWK; header?: object; lifetime?: string | Date } = {},
) =>
  new SignJWT({
    typ: "user",
    ver: "1",
    iss: "gateway",
    sub: user().id,
    aud: "workspaces",
    ...claims,
  })
    .setProtectedHeader({ alg: "EdDSA", kid: gatewayKey.kid ?? "", ...header })
    .setIssuedAt()
    .setExpirationTime(lifetime)
    .sign(await importJWK(key, "EdDSA"));

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * Makes the assertions that are sent instead of a valid one. Each entry makes an assertion that is invalid for a
 * different reason.
 */
const bad: Record<string, (audience: ServiceName) => Promise<string | undefined>> = {
  missing: async () => undefined,
  empty: async () => "",
  "no assertion at all": async () => "Bearer let-me-in",
  "without a signature": async (aud) => (await signed({ aud })).replace(/[^.]*$/, ""),
  "with another signature": async (aud) => {
    const [head, body] = (await signed({ aud })).split(".");
    return [head, body, (await signed({ aud, sub: "user-0000000000000000" })).split(".")[2]].join(
      ".",
    );
  },
  "unsigned by its own word": async (aud) => {
    const claims = decodeJwt(await signed({ aud }));
    return `${base64({ alg: "none", kid: gatewayKey.kid })}.${base64(claims)}.`;
  },
  "altered: another user": async (aud) => {
    const [head, body, signature] = (await signed({ aud })).split(".");
    const claims = JSON.parse(Buffer.from(body ?? "", "base64url").toString());
    return [head, base64({ ...claims, sub: fixture().outsider.id }), signature].join(".");
  },
  "signed by a stranger": async (aud) =>
    signed(
      { aud },
      { key: { ...(await generateAssertionKey()).privateJwk, kid: gatewayKey.kid ?? "" } },
    ),
  "of a key that nobody has": async (aud) => signed({ aud }, { header: { kid: "unknown" } }),
  "of an issuer that nobody knows": async (aud) => signed({ aud, iss: "somebody" }),
  "of another service, for a user": async (aud) => {
    const { environments } = fixture().stack;
    const key: JWK = JSON.parse(environments.state.ASSERTION_PRIVATE_KEY ?? "");
    return signed({ aud, iss: "state" }, { key, header: { kid: key.kid } });
  },
  "the gateway's, for another service": async (aud) =>
    signed({ aud, typ: "service", sub: "operator" }),
  "for another audience": async (aud) => signed({ aud: aud === "state" ? "access" : "state" }),
  "for no audience": async () => signed({ aud: undefined }),
  expired: async (aud) => signed({ aud }, { lifetime: new Date(Date.now() - 1000) }),
  "of no known kind": async (aud) => signed({ aud, typ: "root" }),
  "without a subject": async (aud) => signed({ aud, sub: undefined }),
};

describe("a call without the gateway", () => {
  test("without an assertion is UNAUTHENTICATED for every method of every service", async () => {
    proves("Credentials/between services");
    const methods = await declaredMethods();
    expect(methods.length).toBeGreaterThan(50);
    for (const method of methods) {
      const codes = await Promise.all(
        services.map(async (service) => (await call(service, pathOf(method), undefined)).code),
      );
      // Several services can serve a method: each service with a database serves the methods of its audit trail.
      const answers = new Set(codes.filter((code) => code !== status.UNIMPLEMENTED));
      expect([...answers], pathOf(method)).toEqual([status.UNAUTHENTICATED]);
    }
  });

  test.each(Object.keys(bad))(
    "is UNAUTHENTICATED for every service if the assertion is: %s",
    async (how) => {
      proves("Credentials/between services");
      const methods: Record<ServiceName, string> = {
        access: "/statehouse.access.v1.UserService/GetCurrentUser",
        workspaces: "/statehouse.workspaces.v1.WorkspaceService/GetWorkspace",
        state: "/statehouse.state.v1.StateVersionService/GetStateVersion",
      };
      for (const service of services) {
        const { code } = await call(service, methods[service], await bad[how]?.(service));
        expect(code, service).toBe(status.UNAUTHENTICATED);
      }
    },
  );

  test("with a user's assertion is refused by methods for services, and the reverse", async () => {
    proves("Isolation/methods of other callers");
    const { environments } = fixture().stack;
    const gateway = await createIdentity("gateway", gatewayKey);
    const own = await createIdentity(
      "state",
      JSON.parse(environments.state.ASSERTION_PRIVATE_KEY ?? ""),
    );
    const asUser = await gateway.on(user()).assertion("access");
    for (const method of [
      "/statehouse.access.v1.AuthenticationService/Authenticate",
      "/statehouse.access.v1.GrantsService/GetGrants",
      "/statehouse.access.v1.OrganizationAccessService/ProvisionOrganization",
      "/statehouse.runs.v1.RunTokenService/CreateRunToken",
    ]) {
      expect((await call("access", method, asUser)).code, method).toBe(status.PERMISSION_DENIED);
    }
    const asState = await own.assertion("workspaces");
    const list = "/statehouse.workspaces.v1.WorkspaceService/ListWorkspaces";
    expect((await call("workspaces", list, asState)).code).toBe(status.PERMISSION_DENIED);
  });
});

describe("an intercepted assertion", () => {
  const show = pathOf(WorkspaceService.method.getWorkspace);
  const asking = (id: string) =>
    toBinary(
      GetWorkspaceRequestSchema,
      create(GetWorkspaceRequestSchema, { workspace: { by: { case: "id", value: id } } }),
    );

  test("authorizes what its own principal may see and nothing else", async () => {
    proves("Credentials/between services");
    const { outsider } = fixture();
    const mine = await newWorkspace(fixture());
    const foreign = await newWorkspace({ organization: outsider.organization, owner: outsider });
    const overheard = await signed();
    for (let again = 0; again < 3; again++) {
      const { code, answer } = await call("workspaces", show, overheard, asking(mine.id));
      expect(code).toBe(status.OK);
      const found = fromBinary(GetWorkspaceResponseSchema, answer ?? Buffer.of());
      expect(found.workspace?.id).toBe(mine.id);
      const refused = await call("workspaces", show, overheard, asking(foreign.id));
      expect(refused.code).toBe(status.NOT_FOUND);
    }
    const elsewhere = "/statehouse.state.v1.StateVersionService/GetStateVersion";
    expect((await call("state", elsewhere, overheard)).code).toBe(status.UNAUTHENTICATED);
  });

  test("works until it expires, regardless of how often it is used", async () => {
    proves("Credentials/between services");
    const { id } = await newWorkspace(fixture());
    const expiry = new Date(Math.ceil(Date.now() / 1000) * 1000 + 5000);
    const overheard = await signed({}, { lifetime: expiry });
    expect((await call("workspaces", show, overheard, asking(id))).code).toBe(status.OK);
    let lastTaken = 0;
    await waitFor(async () => {
      const sentAt = Date.now();
      const { code } = await call("workspaces", show, overheard, asking(id));
      if (code === status.OK) lastTaken = sentAt;
      return code === status.UNAUTHENTICATED;
    });
    expect(lastTaken).toBeLessThan(expiry.getTime());
    expect(Date.now()).toBeGreaterThanOrEqual(expiry.getTime());
  });
});
