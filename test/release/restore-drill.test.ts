import { needs } from "@statehouse/testing";
import { test } from "vitest";
import { restoreDrill } from "../restore/drill.ts";

needs("nats-server")("databases restored from a base backup and the archived log", () => {
  test("have every byte, and the services report exactly what is lost", {
    timeout: 600_000,
  }, async () => {
    const seed = Math.floor(Math.random() * 2 ** 30);
    const lines: string[] = [];
    await restoreDrill({ seed, historyMs: 8000, print: (line) => void lines.push(line) }).catch(
      (error: unknown) => {
        throw new Error(`seed ${seed}:\n${lines.join("\n")}`, { cause: error });
      },
    );
  });
});
