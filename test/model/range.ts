/** Where and how long to search. */
export interface Range {
  seed: number;
  path?: string | undefined;
  forMs: number;
}

export interface Found {
  histories: number;
  commands: number;
}
