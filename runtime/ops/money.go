package ops

import "strings"

// ShowsMoney reports whether a family of metrics shows an amount that somebody owns, owes, made
// or lost: whoever connects without a token is not shown those.
func ShowsMoney(family string) bool {
	return strings.Contains(family, "_usdt") || strings.HasPrefix(family, "botd_account_") || strings.HasPrefix(family, "botd_ledger_")
}
