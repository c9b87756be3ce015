package offline

import (
	"context"
	"slices"

	"botd/cmd/botd/cli/connect"
	"botd/configs"
	"botd/reconcile/journal"
)

// refuse rejects a strategy or a symbol that neither the configuration nor a journal record names: it may be misspelled.
func (f *journalFlags) refuse(ctx context.Context, store *journal.Journal, strategy, symbol string) error {
	if strategy == "" && symbol == "" {
		return nil
	}
	var strategies, symbols []string
	if f.file == "" {
		config, err := connect.LoadSettings(ctx, f.directory, configs.Mode(f.mode), "")
		if err != nil {
			return err
		}
		strategies, symbols = connect.Configured(config)
	}
	if connect.RefuseNames(strategy, symbol, strategies, symbols) == nil {
		return nil
	}
	named := func(all []string, name string) []string {
		if i, found := slices.BinarySearch(all, name); name != "" && !found {
			return slices.Insert(all, i, name)
		}
		return all
	}
	slices.Sort(strategies)
	err := store.Select(ctx, journal.Filter{}, func(s *journal.Stored) error {
		strategies, symbols = named(strategies, s.Strategy), named(symbols, s.Symbol.Name)
		return nil
	})
	if err != nil {
		return journal.Failure(err)
	}
	return connect.RefuseNames(strategy, symbol, strategies, symbols)
}
