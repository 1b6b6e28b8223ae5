import { expect, test } from "vitest";
import { problemsOf } from "../test/problems-of.ts";
import { checkUser } from "./domain.ts";

const email = "ada@example.com";
const check = (username: string, address = email) =>
  problemsOf((problems) => checkUser({ username, email: address }, problems));

test.each(["a", "Ada", "ada.lovelace", "ada_1-2", "x".repeat(100)])("%s is a username", (name) => {
  expect(check(name)).toEqual([]);
});

test.each(["", "-a", "a b", "a/b", "ädä", "a\0", "x".repeat(101)])(
  "%j is not a username",
  (name) => {
    expect(check(name)).toEqual([{ field: "username", detail: "Username is invalid" }]);
  },
);

test.each(["user-0123456789abcdef", "user-ABCDEFGHabcdefgh", "USER-abcdefghABCDEFGH"])(
  "%s is not a username: it has the form of an id",
  (username) => {
    expect(check(username)).toEqual([{ field: "username", detail: "Username is invalid" }]);
  },
);

test.each(["statehouse-runs", "api-org-demo", "api-team-t-eve", "API-Team-x", "Statehouse-Runs"])(
  "%s is not a username: documents show other accounts under such names",
  (username) => {
    const detail =
      "Username is reserved; names that begin with api-org- or api-team-, and statehouse-runs, belong to other accounts.";
    expect(check(username)).toEqual([{ field: "username", detail }]);
  },
);

test.each(["statehouse-runs2", "api-organ", "my-api-org-x"])("%s is a username too", (name) => {
  expect(check(name)).toEqual([]);
});

test.each(["", "ada", "@x", "a@", "a b@c", "a@b@c", "a\0@b", `${"x".repeat(253)}@y`])(
  "%j is not an address",
  (address) => {
    expect(check("ada", address)).toEqual([{ field: "email", detail: "Email is invalid" }]);
  },
);

test("all problems are reported, each with its field", () => {
  expect(check("", "").map(({ field }) => field)).toEqual(["username", "email"]);
});
