import { type Action, allowed } from "@statehouse/authorization";
import type { Route } from "@statehouse/gateway/http/route";
import { routes } from "@statehouse/gateway/routes/routes";
import type { Answer } from "../../stack/http.ts";
import { bodyFor, pathWith } from "../../system/estate.ts";
import { renewals } from "./renewals.ts";
import type { Circle, Row } from "./row.ts";
import type { Stage } from "./stage.ts";

type Called = Pick<Route, "method" | "path" | "success" | "failures" | "credentials">;

/** How a call ended, and how it should end according to `packages/authorization`. */
export interface Cell {
  status: number;
  expected: readonly number[];
  /** The response was a list. */
  list: boolean;
}

const declared = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

/** Served by the state service beside the gateway. */
const objectRoutes: Readonly<Record<string, Called>> = {
  "GET /v1/object/:token": {
    method: "GET",
    path: "/v1/object/:token",
    success: 200,
    failures: [404],
    credentials: undefined,
  },
  "PUT /v1/object/:token": {
    method: "POST",
    path: "/v1/object/:token",
    success: 200,
    failures: [404],
    credentials: "none",
  },
};

/** The declaration of a row's route. Throws for a route that no longer exists. */
function calledBy({ route }: Row): Called {
  const found = declared.get(route) ?? objectRoutes[route];
  if (!found) throw new Error(`a row of the matrix for a route that is not there: ${route}`);
  return found;
}

/** Calls the row's route as the stage's caller, and creates again what the call consumed. */
export async function callRow(row: Row, stage: Stage): Promise<Cell | undefined> {
  if (row.only && !row.only(stage)) return undefined;
  const holdsLock = await row.before?.(stage);
  const expected = expectedStatus(row, stage, holdsLock !== false);
  const { status, body } = await send(row, stage);
  if (status < 300 && row.spends) await renewals[row.spends](stage);
  return { status, expected, list: row.route.startsWith("GET ") && Array.isArray(body?.data) };
}

async function send(row: Row, stage: Stage): Promise<Answer> {
  const { caller, site, estate } = stage;
  if (row.route.startsWith("GET /v1/object")) {
    return caller.api.get(estate.downloadUrl ?? "");
  }
  if (row.route.startsWith("PUT /v1/object")) {
    return caller.api.send("PUT", estate.uploadUrl ?? "", estate.uploaded);
  }
  const route = declared.get(row.route);
  if (!route) throw new Error(`no route ${row.route}`);
  const ids = Object.entries(row.ids).map(([name, kept]) => [name, estate[kept]]);
  const path = pathWith(route, { ...estate, ...Object.fromEntries(ids) });
  const query = row.query ? `?${row.query(stage)}` : "";
  const body = row.body ? row.body(stage) : bodyFor(route, estate);
  return caller.api.send(route.method, `${site.stack.url}${path}${query}`, body);
}

/** Permitted statuses of the row's call, according to the caller's nominal grants. */
export function expectedStatus(row: Row, stage: Stage, holdsLock = true): readonly number[] {
  const route = calledBy(row);
  const { caller } = stage;
  const { type } = caller;
  if (route.credentials === "none") return [route.success];
  if (type === undefined) return [401];
  const welcome = route.credentials?.some((credential) => credential === type) ?? true;
  if (welcome && mayCall(row, stage)) {
    return [holdsLock ? (row.allowed ?? route.success) : 409];
  }
  // An organization that takes no user tokens refuses them for everything in it; users and their tokens are outside.
  if (welcome && organizationOf(stage)?.refused) {
    return row.needs === "nobody" || row.needs === "colleagues" || row.needs === "administrators"
      ? [404]
      : [401];
  }
  const readable = allowed(caller.grants(), "workspace:read", targetOf(row, stage));
  return [route.failures.includes(403) && readable ? 403 : 404];
}

const targetOf = ({ ids }: Row, { site, estate }: Stage) => ({
  organizationId: site.organizationId,
  projectId: estate[ids.projectId ?? "projectId"] ?? "",
  workspaceId: estate[ids.workspaceId ?? "workspaceId"] ?? "",
});

function mayCall(row: Row, stage: Stage): boolean {
  const { needs } = row;
  if (isCircle(needs)) return circles[needs](stage);
  const { organizationId, ...place } = targetOf(row, stage);
  // A project's actions have no workspace as target, and neither have an organization's.
  const targets = {
    organization: { organizationId, projectId: "", workspaceId: "" },
    project: { organizationId, ...place, workspaceId: "" },
    workspace: { organizationId, ...place },
  };
  return needs.every((action) => allowed(stage.caller.grants(), action, targets[nounOf(action)]));
}

const nounOf = (action: Action) =>
  action.startsWith("organization:")
    ? "organization"
    : action.startsWith("project:")
      ? "project"
      : "workspace";

const isCircle = (needs: Row["needs"]): needs is Circle => typeof needs === "string";

const organizationOf = ({ caller, site }: Stage) =>
  caller.grants().organizations.get(site.organizationId);

/** Decided by something other than an action on a target. */
const circles: Readonly<Record<Circle, (stage: Stage) => boolean>> = {
  anybody: () => true,
  "every token": () => true,
  "who stands for somebody": ({ caller: { type, grants } }) =>
    type === "user" ||
    ((type === "team" || type === "organization") && grants().organizations.size > 0),
  nobody: () => false,
  administrators: ({ caller }) => caller.grants().administrator,
  "the user itself": ({ caller }) => caller.userId !== undefined,
  "the member itself": (stage) =>
    stage.caller.userId !== undefined && organizationOf(stage)?.refused !== true,
  "the invited user": ({ caller }) => caller.invitationId !== undefined,
  colleagues: (stage) => organizationOf(stage)?.refused === false,
  owners: (stage) => {
    const held = organizationOf(stage);
    return held?.owner === true && !held.refused;
  },
  "trusted members": (stage) => {
    const organizationId = stage.site.organizationId;
    const manages = allowed(stage.caller.grants(), "organization:manage-teams", { organizationId });
    return manages || stage.caller.type === "user";
  },
  "whoever sees the secret team": ({ caller, site: { organizationId } }) =>
    allowed(caller.grants(), "organization:read-secret-teams", { organizationId }),
};
