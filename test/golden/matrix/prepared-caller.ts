import type { ObjectIds } from "../../system/object-ids.ts";
import type { Caller } from "./caller.ts";
import type { MatrixFixture } from "./fixture.ts";

/** Where one caller calls every route: objects that exist for it alone. */
export interface PreparedCaller {
  fixture: MatrixFixture;
  caller: Caller;
  /** One of each object, by the names of the routes' parameters and what bodies need. */
  objects: ObjectIds;
}
