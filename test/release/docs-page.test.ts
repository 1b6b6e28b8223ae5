import { waitFor } from "@statehouse/testing";
import { launch } from "puppeteer-core";
import { expect, test } from "vitest";
import { startStack } from "../stack/stack.ts";
import { browser } from "./browser.ts";

test("the reference page shows and finds operations in a browser, without another host", async () => {
  await using stack = await startStack();
  const running = await launch({
    executablePath: browser(),
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    const page = await running.newPage();
    // Disables the time limits of single actions: on a busy machine, drawing all operations takes a long time. The time
    // limit of the test remains.
    page.setDefaultTimeout(0);
    const problems: string[] = [];
    const foreign: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("request", (request) => {
      const address = request.url();
      if (!address.startsWith(stack.url) && !address.startsWith("data:")) foreign.push(address);
    });
    await page.goto(`${stack.url}/docs`);
    await page.waitForSelector(".opblock-tag");
    await page.type(".operation-filter-input", "Show the API version");
    await waitFor(async () => (await page.$$(".opblock-tag")).length === 1);
    await page.click(".opblock-tag");
    await page.click(".opblock-summary-control");
    await page.waitForSelector(".opblock-body .responses-inner");
    const shown = await page.$eval(".opblock-body", (element) => element.textContent ?? "");
    expect(shown).toContain('curl "$STATEHOUSE/api/v2/ping"');
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  } finally {
    await running.close();
  }
});
