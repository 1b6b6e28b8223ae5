import { document } from "../../stack/http.ts";
import { unusedName } from "../../stack/organization.ts";
import { expectStatus } from "../../stack/state.ts";
import { recordedApi } from "../../system/fixture.ts";
import type { MatrixFixture } from "./fixture.ts";

/** Creates a token at `path`, by default as the fixture's owner; returns its id, its secret and a client with it. */
export async function newToken(fixture: MatrixFixture, path: string, by = fixture.owner.api) {
  const body = document("authentication-tokens", { description: unusedName("token") });
  const { data } = (await expectStatus(201, by.post(path, body))).body;
  const token: string = data.attributes.token;
  return { id: data.id as string, token, api: recordedApi(fixture.stack.url, token) };
}
