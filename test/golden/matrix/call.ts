import { type Action, allowed } from "@statehouse/authorization";
import type { Route } from "@statehouse/gateway/http/route";
import { routes } from "@statehouse/gateway/routes";
import type { Answer } from "../../stack/http.ts";
import { bodyFor, pathWith } from "../../system/object-ids.ts";
import type { PreparedCaller } from "./prepared-caller.ts";
import { renewals } from "./renewals.ts";
import type { Circle, Row } from "./row.ts";

type Called = Pick<Route, "success" | "failures" | "credentials">;

/** The status of a call, and the statuses that `packages/authorization` predicts. */
export interface Cell {
  status: number;
  expected: readonly number[];
  /** Whether the response contains a list. */
  list: boolean;
  /** The id of the request; empty if the response does not contain one. */
  requestId: string;
  /** The client address of the call, which no other call has. Equal attempts of one address are counted together. */
  address: string;
}

const declared = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

/** Routes that the state service serves itself, without the gateway. */
const objectRoutes: Readonly<Record<string, Called>> = {
  "GET /v1/object/:token": {
    success: 200,
    failures: [404],
    credentials: undefined,
  },
  "PUT /v1/object/:token": {
    success: 200,
    failures: [404],
    credentials: "none",
  },
};

/** Returns the declaration of a row's route. Throws if the route does not exist. */
function calledBy({ route }: Row): Called {
  const found = declared.get(route) ?? objectRoutes[route];
  if (!found) throw new Error(`a row of the matrix has an unknown route: ${route}`);
  return found;
}

/**
 * Makes the row's call as the prepared caller, and then recreates the objects that the call used up. Returns undefined
 * if the row does not apply to the caller.
 */
export async function callRow(row: Row, prepared: PreparedCaller): Promise<Cell | undefined> {
  if (row.only && !row.only(prepared)) return undefined;
  const holdsLock = await row.before?.(prepared);
  const expected = expectedStatus(row, prepared, holdsLock !== false);
  const address = unusedAddress();
  const { status, body, headers } = await send(row, prepared, address);
  if (status < 300 && row.spends) await renewals[row.spends](prepared);
  const list = row.route.startsWith("GET ") && Array.isArray(body?.data);
  return { status, expected, list, requestId: headers.get("x-request-id") ?? "", address };
}

let addresses = 0;
const unusedAddress = (): string => {
  addresses++;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
};

async function send(row: Row, prepared: PreparedCaller, address: string): Promise<Answer> {
  const { caller, fixture, objects } = prepared;
  if (row.route.startsWith("GET /v1/object")) {
    return caller.api.get(objects.downloadUrl ?? "");
  }
  if (row.route.startsWith("PUT /v1/object")) {
    return caller.api.send("PUT", objects.uploadUrl ?? "", objects.uploaded);
  }
  const route = declared.get(row.route);
  if (!route) throw new Error(`no route ${row.route}`);
  const ids = Object.entries(row.ids).map(([name, kept]) => [name, objects[kept]]);
  const path = pathWith(route, { ...objects, ...Object.fromEntries(ids) });
  const query = row.query ? `?${row.query(prepared)}` : "";
  const body = row.body ? row.body(prepared) : bodyFor(route, objects);
  return caller.api.send(route.method, `${fixture.stack.url}${path}${query}`, body, {
    "x-forwarded-for": address,
  });
}

/** Returns the statuses that the row's call may have, given the grants that the caller should have. */
export function expectedStatus(
  row: Row,
  prepared: PreparedCaller,
  holdsLock = true,
): readonly number[] {
  const route = calledBy(row);
  const { caller } = prepared;
  const { type } = caller;
  if (route.credentials === "none") return [row.hidden?.(prepared) ? 404 : route.success];
  if (type === undefined) return [401];
  const welcome = route.credentials?.some((credential) => credential === type) ?? true;
  if (welcome && mayCall(row, prepared)) {
    return [holdsLock ? (row.allowed ?? route.success) : 409];
  }
  // An organization that does not accept user tokens refuses them with 401 on all its routes. Users and their tokens do
  // not belong to an organization, so a caller without permission receives 404 on their routes.
  if (welcome && organizationOf(prepared)?.refused) {
    return row.needs === "noCaller" || row.needs === "colleagues" || row.needs === "administrators"
      ? [404]
      : [401];
  }
  const readable = allowed(caller.grants(), "workspace:read", targetOf(row, prepared));
  return [route.failures.includes(403) && readable ? 403 : 404];
}

const targetOf = ({ ids }: Row, { fixture, objects }: PreparedCaller) => ({
  organizationId: fixture.organizationId,
  projectId: objects[ids.projectId ?? "projectId"] ?? "",
  workspaceId: objects[ids.workspaceId ?? "workspaceId"] ?? "",
});

function mayCall(row: Row, prepared: PreparedCaller): boolean {
  const { needs } = row;
  if (isCircle(needs)) return circles[needs](prepared);
  const { organizationId, ...place } = targetOf(row, prepared);
  // Actions on a project or an organization have no workspace as target.
  const targets = {
    organization: { organizationId, projectId: "", workspaceId: "" },
    project: { organizationId, ...place, workspaceId: "" },
    workspace: { organizationId, ...place },
  };
  return needs.every((action) =>
    allowed(prepared.caller.grants(), action, targets[nounOf(action)]),
  );
}

const nounOf = (action: Action) =>
  action.startsWith("organization:")
    ? "organization"
    : action.startsWith("project:")
      ? "project"
      : "workspace";

const isCircle = (needs: Row["needs"]): needs is Circle => typeof needs === "string";

const organizationOf = ({ caller, fixture }: PreparedCaller) =>
  caller.grants().organizations.get(fixture.organizationId);

/** For each group of callers, decides whether a caller belongs to it. Groups are for routes that require no action. */
const circles: Readonly<Record<Circle, (prepared: PreparedCaller) => boolean>> = {
  anyCaller: () => true,
  "every token": () => true,
  "who stands for somebody": ({ caller: { type, grants } }) =>
    type === "user" ||
    ((type === "team" || type === "organization") && grants().organizations.size > 0),
  noCaller: () => false,
  administrators: ({ caller }) => caller.grants().administrator,
  "the user itself": ({ caller }) => caller.userId !== undefined,
  "the member itself": (prepared) =>
    prepared.caller.userId !== undefined && organizationOf(prepared)?.refused !== true,
  "the invited user": ({ caller }) => caller.invitationId !== undefined,
  colleagues: (prepared) => organizationOf(prepared)?.refused === false,
  owners: (prepared) => {
    const held = organizationOf(prepared);
    return held?.owner === true && !held.refused;
  },
  "trusted members": (prepared) => {
    const organizationId = prepared.fixture.organizationId;
    const manages = allowed(prepared.caller.grants(), "organization:manage-teams", {
      organizationId,
    });
    return manages || prepared.caller.type === "user";
  },
  "whoever sees the secret team": ({ caller, fixture: { organizationId } }) =>
    allowed(caller.grants(), "organization:read-secret-teams", { organizationId }),
};
