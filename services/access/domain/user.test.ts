import { expect, test } from "vitest";
import { emailTaken, invalidEmail, invalidUsername } from "./errors.ts";
import { userProblems } from "./user.ts";

const email = "ada@example.com";

test.each(["a", "Ada", "ada.lovelace", "ada_1-2", "x".repeat(100)])("%s is a username", (name) => {
  expect(userProblems({ username: name, email })).toEqual([]);
});

test.each(["", "-a", "a b", "a/b", "ädä", "a\0", "x".repeat(101)])("%j is no username", (name) => {
  expect(userProblems({ username: name, email })).toEqual([invalidUsername]);
});

test.each(["user-0123456789abcdef", "user-ABCDEFGHabcdefgh", "USER-abcdefghABCDEFGH"])(
  "%s is no username: it is, or could be, an id",
  (username) => {
    expect(userProblems({ username, email })).toEqual([invalidUsername]);
  },
);

test.each(["", "ada", "@x", "a@", "a b@c", "a@b@c", "a\0@b", `${"x".repeat(253)}@y`])(
  "%j is no address",
  (address) => {
    expect(userProblems({ username: "ada", email: address })).toEqual([invalidEmail]);
  },
);

test("both problems at once, told by their fields", () => {
  expect(userProblems({ username: "", email: "" }).map(({ field }) => field)).toEqual([
    "username",
    emailTaken.field,
  ]);
});
