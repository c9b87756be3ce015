package risk

import (
	"botd/internal/reconciletest"
	"botd/reconcile"
)

// seen holds what snapshots show of a symbol.
type seen = reconciletest.Observed

// see changes what the snapshots show.
func see(symbol *reconcile.SymbolState, change func(o *seen)) { reconciletest.Set(symbol, change) }
