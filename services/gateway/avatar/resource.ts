import { hash } from "node:crypto";

/** The path of the image that stands for a user, a team or an organization. */
export const avatarPath = (id: string): string => `/avatars/${id}`;

/**
 * The number of cells on each side of the image. The image is symmetric, so its left half and its middle column
 * determine it.
 */
const CELLS = 5;
const COLUMNS = 3;

/**
 * Returns an SVG image that is computed only from the id. The image therefore reveals nothing about the object, not
 * even whether it exists.
 */
export function avatarOf(id: string): string {
  const bytes = hash("sha256", id, "buffer");
  const hue = Math.round(((bytes[0] ?? 0) * 360) / 256);
  const cells = Array.from({ length: CELLS * COLUMNS }, (_, index) => ({
    x: Math.floor(index / CELLS),
    y: index % CELLS,
    filled: (bytes[index + 1] ?? 0) % 2 === 0,
  }));
  const squares = cells
    .filter(({ filled }) => filled)
    .flatMap(({ x, y }) => [...new Set([x, CELLS - 1 - x])].map((column) => ({ x: column, y })))
    .map(({ x, y }) => `<rect x="${x + 1}" y="${y + 1}" width="1" height="1"/>`)
    .join("");
  const side = CELLS + 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}"><rect width="${side}" height="${side}" fill="hsl(${hue},30%,93%)"/><g fill="hsl(${hue},55%,45%)" shape-rendering="crispEdges">${squares}</g></svg>`;
}
