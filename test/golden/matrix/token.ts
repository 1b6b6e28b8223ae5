import { document } from "../../stack/http.ts";
import { unusedName } from "../../stack/organization.ts";
import { expectStatus } from "../../stack/state.ts";
import { recordedApi } from "../../system/fixture.ts";
import type { MatrixFixture } from "./fixture.ts";

/** The secret of a token that the fixture's owner or the given caller creates at `path`. */
export async function newToken(fixture: MatrixFixture, path: string, by = fixture.owner.api) {
  const body = document("authentication-tokens", { description: unusedName("token") });
  const { data } = (await expectStatus(201, by.post(path, body))).body;
  const token: string = data.attributes.token;
  return { id: data.id as string, token, api: recordedApi(fixture.stack.url, token) };
}
