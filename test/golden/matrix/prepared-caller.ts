import type { ObjectIds } from "../../system/object-ids.ts";
import type { Caller } from "./caller.ts";
import type { MatrixFixture } from "./fixture.ts";

/** A caller with the objects on which it calls every route. Calls delete only objects that no other caller uses. */
export interface PreparedCaller {
  fixture: MatrixFixture;
  caller: Caller;
  /** Ids of one object of each kind, keyed by the names of the routes' parameters and of values in bodies. */
  objects: ObjectIds;
}
