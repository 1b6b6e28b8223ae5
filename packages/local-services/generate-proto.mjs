// Generates packages/proto/gen from proto/: `npm run generate`.
import { orOneSentence } from "./failure.mjs";
import { generate } from "./generate.mjs";

await orOneSentence(generate);
