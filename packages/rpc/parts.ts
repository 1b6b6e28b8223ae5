import { MessageTooLarge } from "./error.ts";

/** Few large steps: what is too much has been read and written in vain. */
const PARTS = 10;

/** What `ask` answers for all keys; asked for a part of them at a time where that is more than one message takes. */
export async function inParts<Key, Item>(
  keys: readonly Key[],
  ask: (keys: readonly Key[]) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  try {
    return await ask(keys);
  } catch (error) {
    if (!(error instanceof MessageTooLarge) || keys.length < 2) throw error;
    const size = Math.ceil(keys.length / PARTS);
    const items: Item[] = [];
    for (let from = 0; from < keys.length; from += size) {
      items.push(...(await inParts(keys.slice(from, from + size), ask)));
    }
    return items;
  }
}

interface Page {
  /** From 1. */
  number: number;
  size: number;
}

interface Part<Item> {
  items: readonly Item[];
  totalCount: number;
}

/** One page of a list; asked for as smaller pages where it is more than one message takes. */
export async function inPages<Item>(
  page: Page,
  ask: (page: Page) => Promise<Part<Item>>,
): Promise<Part<Item>> {
  try {
    return await ask(page);
  } catch (error) {
    if (!(error instanceof MessageTooLarge) || page.size < 2) throw error;
    const parts = partsOf(page.size);
    const size = page.size / parts;
    const items: Item[] = [];
    let totalCount = 0;
    for (let part = 1; part <= parts; part++) {
      const found = await inPages({ number: (page.number - 1) * parts + part, size }, ask);
      items.push(...found.items);
      totalCount = found.totalCount;
      if (found.items.length < size) break;
    }
    return { items, totalCount };
  }
}

/** All of a list; asked for page by page where it is more than one message takes. */
export async function allInPages<Item>(
  askAll: () => Promise<Part<Item>>,
  ask: (page: Page) => Promise<Part<Item>>,
): Promise<Part<Item>> {
  try {
    return await askAll();
  } catch (error) {
    if (!(error instanceof MessageTooLarge)) throw error;
    const items: Item[] = [];
    for (let number = 1; ; number++) {
      const found = await inPages({ number, size: PARTS }, ask);
      items.push(...found.items);
      if (found.items.length < PARTS) return { items, totalCount: found.totalCount };
    }
  }
}

/** Pages of a page must cover it exactly. */
function partsOf(size: number): number {
  for (let parts = PARTS; parts < size; parts++) if (size % parts === 0) return parts;
  return size;
}
