// Generates packages/proto/gen from proto/: `npm run generate`.
import { exitWithMessage } from "./failure.mjs";
import { generate } from "./generate.mjs";

await exitWithMessage(generate);
