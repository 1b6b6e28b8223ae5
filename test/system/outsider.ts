import { beforeAll } from "vitest";
import { rawRequest } from "../stack/raw-http.ts";
import { newWorkspace, useFixture } from "./fixture.ts";

interface Workspace {
  id: string;
  attributes: { name: string };
}

export const bearer = (token: string) => `Authorization: Bearer ${token}`;

/** Prepares raw requests of a user without access to the organization of the fixture. */
export function useOutsider() {
  const fixture = useFixture();
  let own: Workspace;
  let foreign: Workspace;
  beforeAll(async () => {
    const { outsider } = fixture();
    foreign = await newWorkspace(fixture());
    own = await newWorkspace({ organization: outsider.organization, owner: outsider });
  });
  const ask = (firstLine: string, headers: readonly string[], body?: string) =>
    rawRequest(fixture().url, firstLine, headers, body);
  return {
    fixture,
    /** A workspace of this user. */
    mine: () => own,
    /** A workspace that this user is not allowed to read. */
    foreign: () => foreign,
    /** Sends a request with these headers, without adding a token. */
    ask,
    asOutsider: (firstLine: string, headers: readonly string[] = []) =>
      ask(firstLine, [bearer(fixture().outsider.token), ...headers]),
  };
}
