import { html } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tokens</title>
<h1>Tokens</h1>
<p>This server has no pages to sign in to yet. Ask its operator for a token, or create another one
with a token that you have: <code>POST /api/v2/users/&lt;your user id&gt;/authentication-tokens</code>.
Your user id is in <code>GET /api/v2/account/details</code>.</p>
<p>Then paste the token where <code>login</code> asks for it, or keep it in the CLI configuration file.</p>
</html>
`;

/** The page that the CLI's login command opens. */
export const tokenSettingsPageRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/app/settings/tokens",
    under: "root",
    summary: "Explain how to get a token",
    success: [200, html],
    failures: [],
    credentials: "none",
    handle: () => page,
  }),
];
