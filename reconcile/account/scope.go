package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"botd/exchange"
)

// ScopeName is what a person writes to name a scope. Its zero value is the account.
type ScopeName struct {
	Strategy string
	Market   string // only where the symbol is known in both markets
	Symbol   string
}

// Resolve finds the scope that a name means. Known are the strategies, each with its symbol,
// and what else may be named, such as scopes that are halted. A name that matches nothing is
// an error: whoever mistypes it must not believe it halted.
func (n ScopeName) Resolve(known []Scope) (Scope, error) {
	switch {
	case n.Strategy != "" && n.Symbol != "":
		return Scope{}, errors.New("give strategy or symbol, not both")
	case n.Market != "" && n.Symbol == "": // whoever means a market must not have the account halted, or armed again
		return Scope{}, fmt.Errorf("market %s alone names nothing: give a symbol too, or neither: nothing was changed", n.Market)
	case n.Strategy != "":
		return n.strategy(known)
	case n.Symbol != "":
		return n.symbol(known)
	}
	return Scope{}, nil
}

func (n ScopeName) strategy(known []Scope) (Scope, error) {
	var names []string
	for _, k := range known {
		if k.Strategy == n.Strategy {
			return Scope{Strategy: n.Strategy}, nil
		}
		if k.Strategy != "" && k.Symbol.Name != "" {
			names = append(names, k.Strategy)
		}
	}
	return Scope{}, fmt.Errorf("there is no strategy %q (there are: %s): nothing was changed", n.Strategy, strings.Join(names, ", "))
}

func (n ScopeName) symbol(known []Scope) (Scope, error) {
	var found []exchange.SymbolKey
	for _, k := range known {
		if k.Symbol.Name == n.Symbol && (n.Market == "" || k.Symbol.Market.String() == n.Market) && !slices.Contains(found, k.Symbol) {
			found = append(found, k.Symbol)
		}
	}
	switch len(found) {
	case 0:
		return Scope{}, fmt.Errorf("no strategy trades %q: nothing was changed", strings.TrimSpace(n.Market+" "+n.Symbol))
	case 1:
		return Scope{Symbol: found[0]}, nil
	}
	return Scope{}, fmt.Errorf("%s is traded in both markets: say which", n.Symbol)
}
