// Bounds that decide how a page marks a value. They are those of the incidents (runtime/incident/policy.go), which a test compares.
export const NEAR_LIQUIDATION = 0.05; // of the price
export const UNSETTLED_AFTER_MS = 60_000; // since an order of uncertain outcome was sent
