import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ConfigError, describeConfig, neededWith, readConfig, settingFilesOf } from "./config.ts";
import { renewable } from "./settings.ts";

const schema = z.object({
  PORT: z.coerce.number().int().default(8080).describe("Where it listens."),
  DATABASE_URL: z.url().describe("The service's own database."),
  EDITION: z.enum(["self-hosted", "hosted"]).default("self-hosted"),
  NOTE: z.string().optional(),
});

test("values come from the environment; absent and empty ones have defaults", () => {
  const config = readConfig(schema, { DATABASE_URL: "postgres://h/d", PORT: "", OTHER: "x" });
  expect(config).toEqual({ PORT: 8080, DATABASE_URL: "postgres://h/d", EDITION: "self-hosted" });
});

test("all problems are reported, one per line, without values", () => {
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

test("settings that another setting requires are reported with all other problems", () => {
  const stores = z.object({
    STORE: z.enum(["directory", "s3"]).default("directory"),
    DIRECTORY: z
      .string()
      .optional()
      .meta(neededWith({ STORE: "directory" }))
      .describe("Where."),
    BUCKET: z
      .string()
      .optional()
      .meta(neededWith({ STORE: "s3" })),
    PORT: z.coerce.number().int(),
  });
  const problems = (env: Record<string, string>) => {
    try {
      readConfig(stores, env);
      return [];
    } catch (error) {
      return String(error instanceof ConfigError && error.message).split("\n");
    }
  };
  expect(problems({ PORT: "x" })).toEqual([
    expect.stringMatching(/^PORT: /),
    "DIRECTORY: is required with STORE=directory",
  ]);
  expect(problems({ PORT: "1", STORE: "s3", DIRECTORY: "" })).toEqual([
    "BUCKET: is required with STORE=s3",
  ]);
  expect(problems({ PORT: "1", STORE: "s3", BUCKET: "b" })).toEqual([]);
  expect(describeConfig(stores)[1]).toContain("Where.");
});

describe("a setting from a file", () => {
  const withFile = async (content: string, use: (file: string) => Promise<void> | void) => {
    const folder = await mkdtemp(path.join(tmpdir(), "statehouse-config-"));
    const file = path.join(folder, "secret");
    await writeFile(file, content);
    try {
      await use(file);
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  test("has the value of the file, without its last line break", () =>
    withFile("postgres://h/d\n", (file) => {
      expect(readConfig(schema, { DATABASE_URL_FILE: file }).DATABASE_URL).toBe("postgres://h/d");
    }));

  test("is reported if the file cannot be used", () =>
    withFile("", (file) => {
      const read = (env: Record<string, string>) => () => readConfig(schema, env);
      expect(read({ DATABASE_URL_FILE: file })).toThrow(/^DATABASE_URL_FILE: the file is empty$/);
      expect(read({ DATABASE_URL_FILE: `${file}-2` })).toThrow(
        /^DATABASE_URL_FILE: the file does not exist$/,
      );
      expect(read({ DATABASE_URL_FILE: file, DATABASE_URL: "postgres://h/d" })).toThrow(
        /^DATABASE_URL_FILE: is set together with DATABASE_URL; set only one of them$/,
      );
    }));

  test("follows the content of its file if it is renewable, once two checks have read the same", () =>
    withFile("first\n", async (file) => {
      const schema = z.object({
        TOKEN: renewable(z.string().regex(/^[a-z]+$/, "must be letters")),
        OTHER: renewable(z.string()).default(() => () => "unset"),
        FIXED: z.string(),
      });
      const fixed = `${file}-fixed`;
      await writeFile(fixed, "fixed");
      const config = readConfig(schema, { TOKEN_FILE: file, FIXED_FILE: fixed });
      const check = () => settingFilesOf(config)?.check();
      expect(config.TOKEN()).toBe("first");
      expect(check()).toBeUndefined();

      await writeFile(file, "second\n");
      expect(check()).toBeUndefined();
      expect(config.TOKEN()).toBe("first");
      expect(check()).toEqual({ renewed: ["TOKEN"], needRestart: [] });
      expect(config.TOKEN()).toBe("second");
      expect(check()).toBeUndefined();

      await writeFile(file, "3");
      await writeFile(fixed, "changed");
      check();
      expect(check()).toEqual({ problems: ["TOKEN: must be letters"] });
      expect(check()).toBeUndefined();
      expect(config.TOKEN()).toBe("second");

      await writeFile(file, "second");
      await writeFile(fixed, "fixed");
      check();
      expect(check()).toBeUndefined();
      await writeFile(file, "3");
      await writeFile(fixed, "changed");
      check();
      expect(check()).toEqual({ problems: ["TOKEN: must be letters"] });

      await rm(file);
      check();
      expect(check()).toEqual({ problems: ["TOKEN_FILE: the file does not exist"] });
      expect(config.TOKEN()).toBe("second");

      await writeFile(file, "third");
      check();
      expect(check()).toEqual({ renewed: ["TOKEN"], needRestart: ["FIXED"] });
      expect(config.TOKEN()).toBe("third");
      expect(config.FIXED).toBe("fixed");
    }));

  test("keeps the value of its variable if it has no file", () => {
    const config = readConfig(z.object({ TOKEN: renewable(z.string()) }), { TOKEN: "given" });
    expect(config.TOKEN()).toBe("given");
    expect(settingFilesOf(config)).toBeUndefined();
  });
});
