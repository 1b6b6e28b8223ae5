import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { expectWhole } from "./check.ts";
import { mendAll, type Site, type SiteOptions, startSite } from "./site.ts";

const PATIENCE_MS = 120_000;

/** A site for all tests of the file. After each test all faults are removed and all data is verified. */
export function useSite(options: () => Promise<SiteOptions> | SiteOptions): () => Site {
  vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });
  let site: Site | undefined;
  const running = () => {
    if (!site) throw new Error("the site is started with the file's tests");
    return site;
  };
  beforeAll(async () => {
    site = await startSite(await options());
  });
  afterEach(async () => {
    await mendAll(running());
    await expectWhole(running());
  });
  afterAll(() => site?.[Symbol.asyncDispose]());
  return running;
}

/** The same with a dependency of its own, which tests stop and start. */
export function useSiteOn<Part>(
  start: () => Promise<Part>,
  options: (part: Part) => SiteOptions,
): { site: () => Site; part: () => Part } {
  let part: Part | undefined;
  const site = useSite(async () => {
    part = await start();
    return options(part);
  });
  const started = (): Part => {
    if (part === undefined) throw new Error("the part is started with the file's tests");
    return part;
  };
  return { site, part: started };
}
