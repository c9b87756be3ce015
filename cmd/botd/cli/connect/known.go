package connect

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"botd/configs"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// Unknown returns the error for a name that is not among the known ones, such as "there is no strategy", with the nearest known name.
func Unknown(what, name string, known []string) error {
	hint := "there are " + strings.Join(known, ", ")
	if len(known) == 0 {
		hint = "there is none yet"
	}
	if near := spell.Nearest(name, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return failure.Usagef("%s %q\nhint: %s", what, name, hint)
}

// NoStrategy and noSymbol begin the errors for unknown values of --strategy and --symbol.
const (
	NoStrategy = "there is no strategy"
	noSymbol   = "no strategy trades"
)

// Configured returns the names and the symbols of the configured strategies, without duplicates.
func Configured(config *configs.Config) (strategies, symbols []string) {
	for i := range config.Strategies {
		s := &config.Strategies[i]
		strategies, symbols = append(strategies, s.Name), append(symbols, s.Symbol)
	}
	slices.Sort(symbols)
	return strategies, slices.Compact(symbols)
}

// Refuse returns an error if an empty page of the API results from an unknown, perhaps misspelled, strategy or
// symbol in the query. A removed strategy that a page still shows is known.
func Refuse(ctx context.Context, d *client.Daemon, path string, page []byte) error {
	var list struct{ Items []json.RawMessage }
	target, err := url.Parse(path)
	if err != nil || json.Unmarshal(page, &list) != nil || len(list.Items) > 0 {
		return err
	}
	strategy, symbol := target.Query().Get("strategy"), target.Query().Get("symbol")
	if strategy == "" && symbol == "" {
		return nil
	}
	all, _, err := client.Ask[client.Page[view.Strategy]](ctx, d, http.MethodGet, "/api/v1/strategies", nil)
	if err != nil || len(all.Items) == 0 { // no strategy trades yet: the daemon waits for the exchange
		return err
	}
	var strategies, symbols []string
	for i := range all.Items {
		strategies, symbols = append(strategies, all.Items[i].Name), append(symbols, all.Items[i].Symbol)
	}
	slices.Sort(symbols)
	return RefuseNames(strategy, symbol, strategies, slices.Compact(symbols))
}

// RefuseNames rejects an unknown strategy or symbol; an empty one is not checked.
func RefuseNames(strategy, symbol string, strategies, symbols []string) error {
	switch {
	case strategy != "" && !slices.Contains(strategies, strategy):
		return Unknown(NoStrategy, strategy, strategies)
	case symbol != "" && !slices.Contains(symbols, symbol):
		return Unknown(noSymbol, symbol, symbols)
	}
	return nil
}
