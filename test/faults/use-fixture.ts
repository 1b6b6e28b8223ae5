import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { expectWhole } from "./check.ts";
import {
  type FaultFixture,
  type FaultFixtureOptions,
  healAll,
  startFaultFixture,
} from "./fixture.ts";

const PATIENCE_MS = 120_000;

/** Provides a fixture for all tests of the file. After each test it removes all faults and verifies all data. */
export function useFaultFixture(
  options: () => Promise<FaultFixtureOptions> | FaultFixtureOptions,
): () => FaultFixture {
  vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });
  let fixture: FaultFixture | undefined;
  const running = () => {
    if (!fixture) throw new Error("the fixture is available only while the tests of the file run");
    return fixture;
  };
  beforeAll(async () => {
    fixture = await startFaultFixture(await options());
  });
  afterEach(async () => {
    await healAll(running());
    await expectWhole(running());
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  return running;
}

/** Like `useFaultFixture`, with a separate dependency that the tests stop and start. */
export function useFaultFixtureOn<Part>(
  start: () => Promise<Part>,
  options: (part: Part) => FaultFixtureOptions,
): { fixture: () => FaultFixture; part: () => Part } {
  let part: Part | undefined;
  const fixture = useFaultFixture(async () => {
    part = await start();
    return options(part);
  });
  const started = (): Part => {
    if (part === undefined)
      throw new Error("the dependency is available only while the tests of the file run");
    return part;
  };
  return { fixture, part: started };
}
