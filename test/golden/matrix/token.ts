import { document } from "../../stack/http.ts";
import { unusedName } from "../../stack/organization.ts";
import { expectStatus } from "../../stack/state.ts";
import { recordedApi } from "../../system/fixture.ts";
import type { Site } from "./site.ts";

/** A token created at `path` by the site's owner or the given caller. */
export async function newToken(site: Site, path: string, by = site.owner.api) {
  const body = document("authentication-tokens", { description: unusedName("token") });
  const { data } = (await expectStatus(201, by.post(path, body))).body;
  const token: string = data.attributes.token;
  return { id: data.id as string, token, api: recordedApi(site.stack.url, token) };
}
