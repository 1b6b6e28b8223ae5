import { AppError } from "@statehouse/errors";
import { routes } from "../routes.ts";
import type { BodyAnswer, BodyMessage } from "./body-parser.ts";
import { parseRouteBody, refuseTooManyValues } from "./parsed-body.ts";

const routeOf = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

/** @public The pool imports it by the name of the file. */
export default function answerTo({ method, path, bytes }: BodyMessage): BodyAnswer {
  const route = routeOf.get(`${method} ${path}`);
  if (!route) throw new Error(`no route ${method} ${path}`);
  try {
    refuseTooManyValues(bytes);
    return { parsed: parseRouteBody(route, bytes) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { kind, reason, message, fields } = error;
    return { refused: { kind, reason, message, fields } };
  }
}
