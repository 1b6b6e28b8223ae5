import type { AddressInfo } from "node:net";
import Koa from "koa";
import { Pool } from "pg";
import type { BareQuestion } from "./bare.ts";

const tokenOf = "select user_id from tokens where token = $1";
const workspaceOf =
  "select id, name, description, locked, created_at, updated_at from workspaces where id = $1";

// A minimal implementation with one database and no domain rules: finds the token's owner, finds the row, and responds.
process.once("message", (question: BareQuestion) => {
  const { databaseUrl, template, prepared } = question;
  const pool = new Pool({ connectionString: databaseUrl, max: 20 });
  const select = (name: string, text: string, values: string[]) =>
    pool.query(prepared ? { name, text, values } : { text, values });
  const app = new Koa();
  app.use(async (ctx) => {
    const token = ctx.get("authorization").slice("Bearer ".length);
    const id = ctx.path.slice(ctx.path.lastIndexOf("/") + 1);
    const tokens = await select("token", tokenOf, [token]);
    const workspaces = await select("workspace", workspaceOf, [id]);
    const [user] = tokens.rows;
    const [workspace] = workspaces.rows;
    ctx.status = user ? (workspace ? 200 : 404) : 401;
    if (ctx.status !== 200) return;
    ctx.body = {
      data: {
        ...template,
        id: workspace.id,
        attributes: {
          ...template.attributes,
          name: workspace.name,
          description: workspace.description,
          locked: workspace.locked,
          "created-at": workspace.created_at,
          "updated-at": workspace.updated_at,
        },
      },
    };
  });
  const server = app.listen(0, "127.0.0.1", () => {
    process.send?.((server.address() as AddressInfo).port);
  });
});
process.on("disconnect", () => process.exit(0));
