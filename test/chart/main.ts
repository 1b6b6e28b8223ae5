import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { declaredSettings, services } from "./declared-settings.ts";
import { withTable } from "./readme.ts";
import { valuesSchema } from "./values-schema.ts";

// `npm run chart:renew` writes the files of the chart that are generated from the settings of the services and from
// values.yaml. With `--check`, this program writes nothing and reports the files that are not current.

const chart = path.resolve(import.meta.dirname, "../../helm/statehouse");
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const current = (name: string): string => readFileSync(path.join(chart, name), "utf8");

const generated: Readonly<Record<string, string>> = {
  "files/settings.json": json(
    Object.fromEntries(
      [...services, "migrate" as const].map((name) => [name, declaredSettings(name)]),
    ),
  ),
  "values.schema.json": json(valuesSchema()),
  "README.md": withTable(current("README.md"), current("values.yaml")),
};

for (const [name, content] of Object.entries(generated)) {
  const file = path.join(chart, name);
  if (!process.argv.includes("--check")) writeFileSync(file, content);
  else if (readFileSync(file, "utf8") !== content) {
    console.log(`helm/statehouse/${name} is not current: run npm run chart:renew.`);
    process.exitCode = 1;
  }
}
