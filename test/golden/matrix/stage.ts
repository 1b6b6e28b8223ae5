import type { Estate } from "../../system/estate.ts";
import type { Caller } from "./caller.ts";
import type { Site } from "./site.ts";

/** Where one caller meets every route: things that are there for it alone. */
export interface Stage {
  site: Site;
  caller: Caller;
  /** One of each thing, by the names of the routes' parameters and what bodies need. */
  estate: Estate;
}
