// Writes docs/api-reference.png, which README.md shows: `npm run docs:screenshot`.

import path from "node:path";
import { runCommand } from "@statehouse/runtime";
import { shareDependencies, startDependencies, waitFor } from "@statehouse/testing";
import { launch } from "puppeteer-core";
import { startStack } from "../stack/stack.ts";
import { browser } from "./browser.ts";

const file = path.resolve(import.meta.dirname, "../../docs/api-reference.png");
const operation = "Lock a workspace";

await runCommand("The screenshot", async (print) => {
  await using started = await startDependencies({ fast: true });
  shareDependencies(started.shared);
  await using stack = await startStack();
  const running = await launch({
    executablePath: browser(),
    args: ["--no-sandbox", "--disable-gpu"],
    defaultViewport: { width: 1100, height: 800 },
  });
  try {
    const page = await running.newPage();
    await page.goto(`${stack.url}/docs`);
    await page.waitForSelector(".opblock-tag");
    await page.type(".operation-filter-input", operation);
    await waitFor(async () => (await page.$$(".opblock-tag")).length === 1);
    await page.click(".opblock-tag");
    await page.click(".opblock-summary-control");
    await page.waitForSelector(".opblock-body .responses-inner");
    await page.screenshot({ path: file });
    print(`written: ${file}`);
  } finally {
    await running.close();
  }
});
