/** Who holds a lock. */
export interface Holder {
  type: "user" | "team" | "run";
  id: string;
}
