import { parentPort } from "node:worker_threads";
import { AppError } from "@statehouse/errors";
import { routes } from "../routes.ts";
import type { BodyAnswer, BodyMessage } from "./body-parser.ts";
import { parseRouteBody, refuseTooManyValues } from "./parsed-body.ts";

const routeOf = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

parentPort?.on("message", (message: BodyMessage) => parentPort?.postMessage(answerTo(message)));

function answerTo({ number, method, path, bytes }: BodyMessage): BodyAnswer {
  const route = routeOf.get(`${method} ${path}`);
  if (!route) throw new Error(`no route ${method} ${path}`);
  try {
    refuseTooManyValues(bytes);
    return { number, parsed: parseRouteBody(route, bytes) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { kind, reason, message, fields } = error;
    return { number, refused: { kind, reason, message, fields } };
  }
}
