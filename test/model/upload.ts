import { type Moment, moment, type Progress } from "./moment.ts";
import { isDeleted, type State, type Version, versionAt, withVersion } from "./state.ts";

export type Kind = "raw" | "json";

/**
 * Returns the status of an upload that stores nothing: 409 if the version refuses these bytes, 200 if it already has
 * them. Returns undefined if the version accepts the bytes.
 */
function refusal(version: Version, kind: Kind, content: string): number | undefined {
  if (isDeleted(version)) return 409;
  const stored = kind === "json" ? version.json : version.raw ? version.content : null;
  if (stored !== null) return stored === content ? 200 : 409;
  const takes = version.status === "pending" || (kind === "json" && version.status === "finalized");
  if (!takes || !version.open) return 409;
  return kind === "raw" && content !== version.content ? 409 : undefined;
}

/**
 * Returns the first of the two steps of an upload: one before and one after the bytes are stored. As in the service,
 * each step checks whether the state version accepts the bytes. `memory` is a part of the steps' keys: the values on
 * which `then` depends, so that steps that continue differently have different keys.
 */
export const upload = (
  memory: string,
  index: number,
  kind: Kind,
  content: string,
  then: (state: State, status: number) => Progress,
): Moment => {
  const look = (key: string, go: (state: State) => Progress): Moment =>
    moment(`${key} ${memory} ${kind} ${index}`, (state) => {
      const refused = refusal(versionAt(state, index), kind, content);
      return refused === undefined ? go(state) : then(state, refused);
    });
  const finish = look("finish", (state) => {
    if (kind === "json") return then(withVersion(state, index, { json: content }), 200);
    if (versionAt(state, index).epoch <= state.sealed) return then(state, 409);
    return then(withVersion(state, index, { raw: true, status: "finalized" }), 200);
  });
  return look("begin", (state) => ({ state, next: finish }));
};
