import { z } from "zod";
import { jsonText } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { openApiDocument } from "../openapi/document.ts";

/**
 * Serves the OpenAPI document of `routes`, which include this route. The document is created when it is first
 * requested.
 */
export function openApiRoutes(routes: () => readonly Route[]): readonly Route[] {
  let text: string | undefined;
  return [
    route({
      method: "GET",
      path: "/openapi/stable.json",
      under: "root",
      summary: "Show this description of the API",
      success: [200, jsonText(z.looseObject({ openapi: z.string() }))],
      failures: [],
      credentials: "none",
      handle: () => {
        text ??= JSON.stringify(openApiDocument(routes()));
        return text;
      },
    }),
  ];
}
