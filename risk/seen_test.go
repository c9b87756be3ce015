package risk

import (
	"botd/internal/reconciletest"
	"botd/reconcile"
)

// seen is what snapshots have shown of a symbol.
type seen = reconciletest.Observed

// see has snapshots show something else.
func see(symbol *reconcile.SymbolState, change func(o *seen)) { reconciletest.Set(symbol, change) }
