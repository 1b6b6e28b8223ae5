import { z } from "zod";
import { plainJson } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";

/** The version of the wire protocol, which does not change with the product. The CLI refuses versions below 2.5. */
export const WIRE_VERSION = "2.6";
const base = "/api/v2/";
/**
 * The registry of modules. Statehouse has none, so its addresses answer 404, as a registry does that has no such
 * module. The Python client `terrasnek` cannot be constructed without this member.
 */
const modules = "/api/registry/v1/modules/";

const services = z.object({
  "tfe.v2": z.string(),
  "tfe.v2.1": z.string(),
  "tfe.v2.2": z.string(),
  "state.v2": z.string(),
  "modules.v1": z.string(),
});

/** The discovery routes, which require no token. */
export const discoveryRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/.well-known/terraform.json",
    under: "root",
    summary: "Describe where the API is",
    success: [200, plainJson(services)],
    failures: [],
    credentials: "none",
    handle: () => ({
      "tfe.v2": base,
      "tfe.v2.1": base,
      "tfe.v2.2": base,
      "state.v2": base,
      "modules.v1": modules,
    }),
  }),
  route({
    method: "GET",
    path: "/ping",
    summary: "Show the API version",
    success: [204],
    failures: [],
    credentials: "none",
    headers: (edition) => ({
      "TFP-API-Version": WIRE_VERSION,
      "TFP-AppName": edition.value("app-name"),
    }),
    handle: () => undefined,
  }),
];
