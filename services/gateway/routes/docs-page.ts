import { readFile } from "node:fs/promises";
import { asset } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";

const ours = (file: string) => new URL(`../docs-page/${file}`, import.meta.url);

/** Returns a function that reads a file when it is first requested. */
function cached(file: () => URL): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () => {
    text ??= readFile(file(), "utf8");
    return text;
  };
}

const file = (path: string, contentType: string, summary: string, source: () => URL): Route =>
  route({
    method: "GET",
    path,
    under: "root",
    summary,
    success: [200, asset(contentType)],
    failures: [],
    credentials: "none",
    handle: cached(source),
  });

/** The reference page of the API, with everything that it loads. It loads nothing from other hosts. */
export const docsPageRoutes: readonly Route[] = [
  file("/docs", "text/html", "Show the API's reference", () => ours("page.html")),
  file("/docs/init.js", "text/javascript", "The script of the API's reference", () =>
    ours("init.js"),
  ),
  file(
    "/docs/swagger-ui.css",
    "text/css",
    "The style of the API's reference",
    () => new URL(import.meta.resolve("swagger-ui-dist/swagger-ui.css")),
  ),
  file(
    "/docs/swagger-ui-bundle.js",
    "text/javascript",
    "The library of the API's reference",
    () => new URL(import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js")),
  ),
];
