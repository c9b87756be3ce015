package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/runtime/api"
)

// laterName is the file of the halts that no running botd heard. Beside the journal,
// which only the process that holds its lock may write.
const laterName = "halt.json"

// laterHalt is the kill switch, pulled while no botd answered.
type laterHalt struct {
	AtMS     int64  `json:"at_ms"`
	By       string `json:"by"`
	Level    string `json:"level"`
	Reason   string `json:"reason"`
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	Symbol   string `json:"symbol,omitempty"`
}

// later keeps a halt for the next start when no daemon answers: the one that should
// have heard it may be waiting for an exchange that fails, or be started anew by
// systemd in a moment. It returns why nobody was reached, and what was done instead;
// or the daemon, when one answers after all.
func (f *haltFlags) later(command *cobra.Command, unreached error) (*running, error) {
	var code *exitError
	if f.DryRun || f.address != "" || !errors.As(unreached, &code) || code.code != exitUnavailable {
		return nil, unreached
	}
	config, problems, err := load(f.directory, "")
	if err = errors.Join(err, problems.Err()); err != nil {
		return nil, unreached
	}
	directory := filepath.Join(config.DataDir, string(config.Mode))
	if _, err := os.Stat(filepath.Join(directory, journalName)); err != nil {
		return nil, unreached // nothing ever traded there
	}
	halt := laterHalt{time.Now().UnixMilli(), operator(), f.Level, f.Reason, f.Strategy, f.Market, f.Symbol}
	if _, err := halt.scope(config); err != nil {
		return nil, fail(exitNegative, err)
	}
	path := filepath.Join(directory, laterName)
	if err := leaveHalt(path, halt); err != nil {
		return nil, failure(exitIO, "nothing was halted", "keep the halt for the next start: %w", err)
	}
	if d, err := f.reach(command); err == nil { // it has started meanwhile, and may not have seen the file
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fail(exitIO, err)
		}
		return d, nil
	}
	return nil, failure(exitUnavailable, "the next botd run is halted before anything is sent, and carries it out; nothing does until then",
		"no daemon answers: the halt is kept in %s", path)
}

// operator names who runs the command.
func operator() string {
	if who, err := user.Current(); err == nil {
		return who.Username
	}
	return fmt.Sprint("user ", os.Getuid())
}

// scope is what the halt is of, by the configuration's strategies.
func (h *laterHalt) scope(config *configs.Config) (scope reconcile.Scope, err error) {
	if h.Strategy != "" && h.Symbol != "" {
		return scope, errors.New("give strategy or symbol, not both")
	}
	if h.Strategy == "" && h.Symbol == "" {
		return scope, nil
	}
	for i := range config.Strategies {
		s := &config.Strategies[i]
		key := exchange.SymbolKey{Market: s.Market, Name: s.Symbol}
		switch {
		case h.Strategy != "" && s.Name == h.Strategy:
			return reconcile.Scope{Strategy: s.Name}, nil
		case h.Symbol != "" && s.Symbol == h.Symbol && (h.Market == "" || h.Market == s.Market.String()):
			if scope.Symbol != (exchange.SymbolKey{}) && scope.Symbol != key {
				return scope, fmt.Errorf("%s is traded in both markets: say which", h.Symbol)
			}
			scope.Symbol = key
		}
	}
	if scope == (reconcile.Scope{}) {
		return scope, fmt.Errorf("no strategy of the configuration is or trades %q: nothing was changed", cmp.Or(h.Strategy, h.Symbol))
	}
	return scope, nil
}

// leaveHalt adds a halt to the file, durably, and all or nothing.
func leaveHalt(path string, halt laterHalt) error {
	all, err := readHalts(path)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(append(all, halt), "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), laterName+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncDirectory(filepath.Dir(path))
}

func readHalts(path string) (all []laterHalt, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	for i := range all {
		if err == nil && !slices.Contains(reconcile.Levels, all[i].Level) {
			err = fmt.Errorf("level %q is none of %v", all[i].Level, reconcile.Levels)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the halts of %s: %w", path, err)
	}
	return all, nil
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// takeHalts writes the halts that were kept into the journal and the book, before
// the engine is made of them. One that can not be read is no reason to trade.
func takeHalts(ctx context.Context, config *configs.Config, directory string, nowMS int64, store *journal.Journal, book *reconcile.Book, history *api.History) error {
	path := filepath.Join(directory, laterName)
	all, err := readHalts(path)
	if err != nil {
		return failure(exitData, "remove it when it is not meant any more", "a halt was kept for this start: %w", err)
	}
	if len(all) == 0 {
		return nil
	}
	var records []reconcile.Record
	for i := range all {
		h := &all[i]
		scope, err := h.scope(config)
		if err != nil {
			scope = reconcile.Scope{} // of what is not configured any more: then all of it
		}
		records = append(records, reconcile.Record{Kind: reconcile.RecordAudit, AtMS: nowMS, Audit: &reconcile.Audit{Actor: h.By, Role: "operator", From: path,
			Action: "botd halt", Target: scope.String(), Detail: h.Level + ": " + h.Reason + " (at " + time.UnixMilli(h.AtMS).UTC().Format(time.RFC3339) + ", while no botd answered)"}})
		halt := reconcile.Record{Kind: reconcile.RecordHalt, AtMS: nowMS, Strategy: scope.Strategy, Symbol: scope.Symbol, Level: h.Level, Why: h.Reason}
		if reconcile.Severer(h.Level, book.HaltOf(scope).Level) {
			book.Apply(&halt)
			records = append(records, halt)
		}
	}
	if err := store.Append(ctx, records); err != nil {
		return fail(exitIO, err)
	}
	for i := range records {
		history.Take(&records[i])
	}
	return fail(exitIO, errors.Join(os.Remove(path), syncDirectory(directory)))
}
