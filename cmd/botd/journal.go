package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/reconcile"
	"botd/reconcile/journal"
)

func newJournal() *cobra.Command {
	command := &cobra.Command{Use: "journal", Short: "read the journal: tail, export, verify", Args: unknownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(
		journalVerb("tail", "the last records, a line of JSON each", func(command *cobra.Command, records []reconcile.Record) error {
			const last = 20
			return writeRecords(command, records[max(0, len(records)-last):])
		}),
		journalVerb("export", "every record, a line of JSON each", writeRecords),
		journalVerb("verify", "check the chain of records", func(command *cobra.Command, records []reconcile.Record) error {
			fmt.Fprintf(command.OutOrStdout(), "ok: %d records, the chain is whole\n", len(records))
			return nil
		}),
	)
	return command
}

func writeRecords(command *cobra.Command, records []reconcile.Record) error {
	encoder := json.NewEncoder(command.OutOrStdout())
	for i := range records {
		if err := encoder.Encode(&records[i]); err != nil {
			return fail(exitIO, err)
		}
	}
	return nil
}

// journalVerb reads the journal of a mode, which may be in use.
func journalVerb(use, short string, show func(*cobra.Command, []reconcile.Record) error) *cobra.Command {
	var directory, mode string
	command := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, problems, err := load(directory, configs.Mode(mode))
			if err != nil {
				return err
			}
			if err := problems.Err(); err != nil {
				return failure(exitConfig, "", "%s", problems.String())
			}
			path := filepath.Join(config.DataDir, string(config.Mode), "journal.db")
			if _, err := os.Stat(path); err != nil {
				return failure(exitNoInput, "botd run makes one", "no journal at %s", path)
			}
			store, err := journal.Read(command.Context(), path)
			if err != nil {
				return fail(exitIO, err)
			}
			defer store.Close()
			var records []reconcile.Record
			if err := store.Replay(command.Context(), func(r *reconcile.Record) error { records = append(records, *r); return nil }); err != nil {
				return fail(exitNegative, err)
			}
			return show(command, records)
		},
	}
	command.Flags().StringVarP(&directory, "config", "c", "", "configuration directory")
	command.Flags().StringVar(&mode, "mode", "", "demo, paper or live (default: as configured)")
	return command
}
