import type { Estate } from "../../system/estate.ts";
import type { Caller } from "./caller.ts";
import type { Site } from "./site.ts";

/** Where one caller calls every route: objects that exist for it alone. */
export interface Stage {
  site: Site;
  caller: Caller;
  /** One of each object, by the names of the routes' parameters and what bodies need. */
  estate: Estate;
}
