import { readFile } from "node:fs/promises";
import { asset } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";

const ours = (file: string) => new URL(file, import.meta.url);

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
  file("/docs", "text/html", "Show the API reference page", () => ours("page.html")),
  file("/docs/init.js", "text/javascript", "Return the script of the API reference page", () =>
    ours("init.js"),
  ),
  file(
    "/docs/swagger-ui.css",
    "text/css",
    "Return the style sheet of the API reference page",
    () => new URL(import.meta.resolve("swagger-ui-dist/swagger-ui.css")),
  ),
  file(
    "/docs/swagger-ui-bundle.js",
    "text/javascript",
    "Return the JavaScript library that the API reference page uses",
    () => new URL(import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js")),
  ),
];
