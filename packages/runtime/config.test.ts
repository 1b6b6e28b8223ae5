import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigError, describeConfig, readConfig } from "./config.ts";

const schema = z.object({
  PORT: z.coerce.number().int().default(8080).describe("Where it listens."),
  DATABASE_URL: z.url().describe("The service's own database."),
  EDITION: z.enum(["self-hosted", "hosted"]).default("self-hosted"),
  NOTE: z.string().optional(),
});

test("values come from the environment, with defaults for what is absent or empty", () => {
  const config = readConfig(schema, { DATABASE_URL: "postgres://h/d", PORT: "", OTHER: "x" });
  expect(config).toEqual({ PORT: 8080, DATABASE_URL: "postgres://h/d", EDITION: "self-hosted" });
});

test("every problem is named at once, one a line, without the values", () => {
  const read = () => readConfig(schema, { PORT: "secret-port", EDITION: "gold" });
  expect(read).toThrow(ConfigError);
  let message = "";
  try {
    read();
  } catch (error) {
    message = error instanceof Error ? error.message : "";
  }
  const lines = message.split("\n");
  expect(lines.map((line) => line.split(":")[0])).toEqual(["PORT", "DATABASE_URL", "EDITION"]);
  expect(lines[1]).toBe("DATABASE_URL: is required but not set");
  expect(message).not.toContain("secret-port");
});

test("the help names each variable with its default and its description", () => {
  expect(describeConfig(schema)).toEqual([
    "  PORT          (default 8080) Where it listens.",
    "  DATABASE_URL  (required) The service's own database.",
    "  EDITION       (default self-hosted)",
    "  NOTE",
  ]);
});
