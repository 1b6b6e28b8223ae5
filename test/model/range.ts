/** Where a search for failing histories starts, and how long it runs. */
export interface Range {
  seed: number;
  path?: string | undefined;
  forMs: number;
}

export interface Found {
  histories: number;
  commands: number;
}
