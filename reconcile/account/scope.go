package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"botd/exchange"
)

// ScopeName is the name of a scope as a person writes it. Its zero value is the account.
type ScopeName struct {
	Strategy string
	Market   string // needed only if both markets list the symbol
	Symbol   string
}

// Find returns the scope of a name. known contains the strategies, each with its symbol, and other
// valid scopes, such as halted ones. A name that matches nothing is an error: a person who mistypes
// it must not believe it halted.
func (n ScopeName) Find(known []Scope) (Scope, error) {
	switch {
	case n.Strategy != "" && n.Symbol != "":
		return Scope{}, errors.New("set strategy or symbol, not both")
	case n.Market != "" && n.Symbol == "": // a market without a symbol must not halt or rearm the account
		return Scope{}, fmt.Errorf("market %s without a symbol selects nothing: add a symbol or omit the market; nothing was changed", n.Market)
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
	return Scope{}, NoStrategy(n.Strategy, names)
}

// NoStrategy is the error of a change to a strategy that does not exist.
func NoStrategy(name string, names []string) error {
	return fmt.Errorf("there is no strategy %q (there are: %s): nothing was changed", name, strings.Join(names, ", "))
}

// NotQuarantined is the error of a resolution of a symbol that needs none.
func NotQuarantined(symbol string) error {
	return fmt.Errorf("%s is not quarantined: there is nothing to resolve", symbol)
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
	return Scope{}, fmt.Errorf("%s is traded in both markets: name one", n.Symbol)
}
