import { invalid } from "@statehouse/errors";

/** The plans that an organization can have, lowest first. Only an administrator can change an organization's plan. */
export const plans = ["free", "standard", "premium"] as const;

export type Plan = (typeof plans)[number];

/** The plan of new organizations. */
export const topPlan = "premium" satisfies Plan;

/**
 * Maps each plan to the conditions that the API's documentation uses for features ("top tier", "free tier",
 * "usage-based").
 */
export const planTable = {
  free: { topTier: false, freeTier: true, usageBased: false },
  standard: { topTier: false, freeTier: false, usageBased: true },
  premium: { topTier: true, freeTier: false, usageBased: true },
} as const satisfies Record<Plan, Record<"topTier" | "freeTier" | "usageBased", boolean>>;

/** Returns whether a string of a request is a plan. */
export const isPlan = (text: string): text is Plan => plans.some((plan) => plan === text);

export const planUnknown = () => invalid([{ field: "plan", detail: "Plan is invalid" }]);
