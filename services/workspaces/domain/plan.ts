import { invalid } from "@statehouse/errors";

/** The plan of an organization, lowest first. Only an administrator changes it. */
export const plans = ["free", "standard", "premium"] as const;

export type Plan = (typeof plans)[number];

/** The plan of new organizations. */
export const topPlan = "premium" satisfies Plan;

/** The specification's conditions on an organization's plan, in its terms ("top-tier" and similar). */
export const planTable = {
  free: { topTier: false, freeTier: true, usageBased: false },
  standard: { topTier: false, freeTier: false, usageBased: true },
  premium: { topTier: true, freeTier: false, usageBased: true },
} as const satisfies Record<Plan, Record<"topTier" | "freeTier" | "usageBased", boolean>>;

/** Narrows a text of a request to the type. */
export const isPlan = (text: string): text is Plan => plans.some((plan) => plan === text);

export const planUnknown = () => invalid([{ field: "plan", detail: "Plan is invalid" }]);
