import { existsSync } from "node:fs";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import {
  type Declaration,
  fileOf,
  goldenFiles,
  readRows,
  rowsOf,
  writeTests,
} from "./specification.ts";

/**
 * Compares the golden files of the specification with the rows that the tests of this run declare. With `--update=true`
 * it updates the golden files instead.
 */
export default class SpecificationReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Tests declare their rows while they run, so only files whose tests have all passed are compared.
    const whole = modules.filter(allPassed);
    const files = new Set(whole.map((module) => module.relativeModuleId));
    const update = this.#vitest?.config.snapshotOptions.updateSnapshot === "all";
    const problems = compare(files, whole.flatMap(declarationsOf), update);
    if (problems.length === 0) return;
    process.exitCode = 1;
    process.stdout.write(
      `\nSpecification (test/golden/specification; rows are written by hand, test lines by npm test -- --update=true <files>):\n${problems.map((line) => `  ${line}\n`).join("")}`,
    );
  }
}

const allPassed = (module: TestModule): boolean =>
  module.state() === "passed" &&
  [...module.children.allTests()].every((test) => test.result().state === "passed");

/** Returns the tests that declare rows. A test with several cases is returned once, with the number of cases. */
function declarationsOf(module: TestModule): Declaration[] {
  const declared = new Map<string, { cases: number; first: TestCase; spec: readonly string[] }>();
  for (const test of module.children.allTests()) {
    const { spec } = test.meta();
    if (!spec) continue;
    const key = test.options.each ? `${test.parent.id} ${spec.join("\n")}` : test.id;
    const known = declared.get(key);
    if (known) known.cases++;
    else declared.set(key, { cases: 1, first: test, spec });
  }
  return [...declared.values()].map(({ cases, first, spec }) => ({
    file: module.relativeModuleId,
    name: cases === 1 ? first.fullName : `${first.fullName} (${cases} cases)`,
    spec,
  }));
}

/**
 * Returns how the golden files differ from the declarations in `files`. With `update`, writes the golden files, and
 * returns only the invalid declarations.
 */
function compare(
  files: ReadonlySet<string>,
  declarations: readonly Declaration[],
  update: boolean,
): string[] {
  const problems: string[] = [];
  const rows = new Map(goldenFiles().map((golden) => [golden, readRows(golden)]));
  const all = [...rows.values()].flat();
  const proofs = new Map(all.map((row) => [row, new Set<string>()]));
  for (const { file, name, spec } of declarations) {
    for (const declared of spec) {
      try {
        for (const row of rowsOf(declared, all)) proofs.get(row)?.add(`${file} > ${name}`);
      } catch (error) {
        problems.push(`${file} > ${name}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
  if (update) {
    const kept = (test: string) => !files.has(fileOf(test)) && existsSync(fileOf(test));
    for (const [golden, ofFile] of rows) {
      writeTests(golden, (table, text) =>
        ofFile
          .filter((row) => row.table === table && row.text === text)
          .flatMap((row) => [...row.tests.filter(kept), ...(proofs.get(row) ?? [])])
          .toSorted(),
      );
    }
    return problems;
  }
  for (const row of all) {
    const proved = proofs.get(row) ?? new Set();
    for (const test of proved) {
      if (!row.tests.includes(test)) problems.push(`not in the golden file: ${named(row, test)}`);
    }
    for (const test of row.tests) {
      if (files.has(fileOf(test)) && !proved.has(test)) {
        problems.push(`not declared by a test: ${named(row, test)}`);
      }
    }
  }
  return problems;
}

const named = ({ table, text }: { table: string; text: string }, test: string) =>
  `${table}/${text}: ${test}`;
