import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { hasLayers, nounCycles } from "./layers.ts";
import { layoutProblems, mergeMarkers, structureProblems } from "./structure.ts";
import { trackedFiles } from "./tracked-files.ts";

// `npm run check:structure` checks rules of CONTRIBUTING.md that neither TypeScript nor Biome checks. It reports
// imports across packages, cycles between nouns, casts, misplaced files and markers of an unresolved merge.

const services = readdirSync("services");
const files = trackedFiles();

const layered = files.filter((file) => hasLayers(file) && /(?<!\.test)\.ts$/.test(file));
const sources = new Map(layered.map((file) => [file, readFileSync(file, "utf8")]));

const problems = [
  ...layoutProblems(files),
  ...nounCycles(sources).map((cycle) => `${cycle}: a cycle between nouns of one layer.`),
  ...files.flatMap((file) => {
    const source = readFileSync(file, "utf8");
    const markers = source.includes("\0") ? [] : mergeMarkers(source);
    return [
      ...markers.map((line) => `${file}:${line}: a marker of an unresolved merge.`),
      ...(/\.(ts|mjs)$/.test(file) && !file.startsWith("examples/")
        ? structureProblems(file, source, services).map((problem) => `${file}:${problem}`)
        : []),
    ];
  }),
];

for (const problem of problems) console.log(problem);
if (problems.length > 0) {
  console.log(`\n${problems.length} problems of structure; CONTRIBUTING.md has the rules.`);
  process.exitCode = 1;
}
