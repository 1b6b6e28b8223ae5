import { createBodyParser } from "@statehouse/gateway/http/body-parser";
import { routes } from "@statehouse/gateway/routes";
import { expect, test } from "vitest";

const NUL = "\\u0000";

/** Returns the route that accepts the largest bodies. */
function stateVersionRoute() {
  const found = routes.find(
    ({ method, path }) => method === "POST" && path.endsWith("/state-versions"),
  );
  if (!found) throw new Error("there is no route for state versions");
  return found;
}

const list = (count: number, last = "0") => `{"data":[${"0,".repeat(count - 1)}${last}]}`;

/** Parses a body; returns why it was refused, and whether it was parsed in a separate thread. */
async function refusalOf(text: string): Promise<{ reason: string; inThread: boolean }> {
  await using parser = createBodyParser();
  const bytes = new TextEncoder().encode(text);
  const reason = await parser.parse(stateVersionRoute(), bytes).then(
    () => "accepted",
    (error: Error) => error.message,
  );
  // A body that was passed to the other thread is no longer usable in this thread; its length is then 0.
  return { reason, inThread: bytes.byteLength === 0 };
}

test.each([
  ["numbers", list(500_000)],
  ["numbers and a character that cannot be stored", list(500_000, `"${NUL}"`)],
  ["nested lists", `{"data":${"[".repeat(400_000)}${"]".repeat(400_000)}}`],
  ["empty objects", `{"data":[${"{},".repeat(300_000)}{}]}`],
])("a body of one MiB with many %s does not block the event loop", async (_, text) => {
  const { reason, inThread } = await refusalOf(text);
  expect(reason).not.toBe("accepted");
  expect(inThread).toBe(true);
});

test("a body of more than two million values is refused before it is parsed", async () => {
  expect((await refusalOf(list(2_100_000))).reason).toBe(
    "The request body may have at most 2000000 values.",
  );
});

test("an ordinary body is parsed at once", async () => {
  expect(await refusalOf(list(1000))).toMatchObject({ inThread: false });
});

test("bodies that wait for a thread that does not respond are refused, and the thread is replaced", async () => {
  // A new thread needs longer than this 1 ms to load the routes, so the parser concludes that it does not respond.
  await using parser = createBodyParser({ parsingMs: 1 });
  const parse = () => parser.parse(stateVersionRoute(), new TextEncoder().encode(list(500_000)));
  const refused = { kind: "unavailable", reason: "body_parser" };
  await Promise.all([
    expect(parse()).rejects.toMatchObject(refused),
    expect(parse()).rejects.toMatchObject(refused),
  ]);
  await expect(parse()).rejects.toMatchObject(refused);
});
