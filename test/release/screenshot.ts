// Writes the pictures of the documents: `npm run docs:screenshot`.

import path from "node:path";
import { runCommand } from "@statehouse/runtime";
import { shareDependencies, startDependencies, waitFor } from "@statehouse/testing";
import { launch, type Page } from "puppeteer-core";
import { startStack } from "../stack/stack.ts";
import { browser } from "./browser.ts";
import { recordFirstApply } from "./first-apply.ts";
import { drawShells } from "./terminal.ts";

const documents = path.resolve(import.meta.dirname, "../../docs");
const pictures = { "first-apply.png": drawFirstApply, "api-reference.png": drawReference };

await runCommand("The screenshot", async (print) => {
  const running = await launch({
    executablePath: browser(),
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await running.newPage();
    for (const [name, draw] of Object.entries(pictures)) {
      const file = path.join(documents, name);
      await draw(page, file);
      print(`written: ${file}`);
    }
  } finally {
    await running.close();
  }
});

/** Writes the picture of a first apply, which README.md shows. */
async function drawFirstApply(page: Page, file: string): Promise<void> {
  const { start, apply } = await recordFirstApply();
  await page.setViewport({ width: 900, height: 800, deviceScaleFactor: 2 });
  await drawShells(
    page,
    [
      ["In one shell", start],
      ["In another shell", apply],
    ],
    file,
  );
}

/** Writes the picture of the operation that locks a workspace, which docs/api.md shows. */
async function drawReference(page: Page, file: string): Promise<void> {
  await using started = await startDependencies({ fast: true });
  shareDependencies(started.shared);
  await using stack = await startStack();
  await page.setViewport({ width: 1100, height: 800 });
  await page.goto(`${stack.url}/docs`);
  await page.waitForSelector(".opblock-tag");
  await page.type(".operation-filter-input", "Lock a workspace");
  await waitFor(async () => (await page.$$(".opblock-tag")).length === 1);
  await page.click(".opblock-tag");
  await page.click(".opblock-summary-control");
  await page.waitForSelector(".opblock-body .responses-inner");
  await page.screenshot({ path: file });
}
