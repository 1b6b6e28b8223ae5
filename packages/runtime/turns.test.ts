import { expect, test } from "vitest";
import { limitPerTurn, nextTurn } from "./turns.ts";

test("work beyond the limit runs in later turns, in order", async () => {
  const inTurn = limitPerTurn(3);
  const ran: number[] = [];
  for (let index = 0; index < 7; index++) inTurn(() => void ran.push(index));
  expect(ran).toEqual([0, 1, 2]);
  await nextTurn();
  expect(ran).toEqual([0, 1, 2, 3, 4, 5]);
  // Work that arrives later does not overtake work that is already waiting.
  inTurn(() => void ran.push(7));
  expect(ran).toHaveLength(6);
  await nextTurn();
  expect(ran).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await nextTurn();
  inTurn(() => void ran.push(8));
  expect(ran).toHaveLength(9);
});
