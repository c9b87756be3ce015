package ops

import "strings"

// ShowsMoney reports whether a family of metrics shows a person's balance, debt, profit or loss.
// Clients without a token do not see those.
func ShowsMoney(family string) bool {
	return strings.Contains(family, "_usdt") || strings.HasPrefix(family, "botd_account_") || strings.HasPrefix(family, "botd_ledger_")
}
