import type { ObjectIds } from "../../system/object-ids.ts";
import type { Caller } from "./caller.ts";
import type { MatrixFixture } from "./fixture.ts";

/** The objects on which one caller calls every route; no other caller uses them. */
export interface PreparedCaller {
  fixture: MatrixFixture;
  caller: Caller;
  /** One object of each kind, by the names of the routes' parameters and of values in bodies. */
  objects: ObjectIds;
}
