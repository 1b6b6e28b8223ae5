import { needs } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { type SettingName, settings } from "./setting.ts";

const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.info(`test/model: seed ${seed}; to repeat, set MODEL_SEED=${seed}`);

async function holds(name: SettingName, forMs: number): Promise<void> {
  const { histories, commands } = await settings[name]({ seed, forMs });
  console.info(`${name}: ${histories} histories, ${commands} commands`);
  expect(histories).toBeGreaterThan(0);
}

// The time limit is long, because a failing history is shrunk before it is reported.
const PATIENCE_MS = 300_000;

test(
  "concurrent clients leave the state that the model predicts",
  async () => {
    proves("Durability/random histories of clients");
    await holds("self-hosted", 8_000);
  },
  PATIENCE_MS,
);

test(
  "concurrent clients with snapshots in the hosted edition leave the state that the model predicts",
  async () => {
    proves("Durability/random histories of clients");
    await holds("hosted", 4_000);
  },
  PATIENCE_MS,
);

needs("minio")("while services are killed and cut from each other", () => {
  test(
    "the state equals that of the model, and nothing is lost",
    async () => {
      proves("Durability/the same while services are killed and cut from each other");
      await holds("faults, MinIO", 8_000);
    },
    PATIENCE_MS,
  );
});
