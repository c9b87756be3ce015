package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/internal/printable"
	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// NewJournal returns the command botd journal.
func NewJournal() *cobra.Command {
	return shell.Group("journal", "read the journal: tail, export, head, verify; start a keyed chain; accept a new exchange key",
		`The journal is botd's memory: a sequence of records, each with the hash of the previous one,
written before anything is sent. These commands read it, also while botd writes to it; only key
adds a record, and accept-key a file next to it.`,
		"  botd journal tail\n  botd journal verify\n  botd journal export --kind audit",
		newTail(), newExport(), newHead(), newVerifyJournal(), newKey(), newAcceptKey())
}

// journalFlags select a journal.
type journalFlags struct{ directory, mode, file, keyFile string }

func (f *journalFlags) add(command *cobra.Command) {
	command.Flags().StringVarP(&f.directory, "config", "c", "", "configuration directory")
	command.Flags().StringVar(&f.mode, "mode", "", "demo, paper or live (default: as configured)")
	command.Flags().StringVar(&f.file, "file", "", "a journal's file, such as a backup (default: the configured data_dir's)")
	command.Flags().StringVar(&f.keyFile, "key-file", "", "with --file: the file of its chain's key (default: none, so that only consistency is proven)")
}

// find returns the journal's file, and the key of its chain or nil.
func (f *journalFlags) find(ctx context.Context) (path string, key *journal.Key, err error) {
	path = f.file
	config := &configs.Config{JournalKeyFile: f.keyFile}
	if path == "" {
		if f.keyFile != "" {
			return "", nil, failure.Usagef("--key-file requires --file; otherwise journal_key_file in botd.yaml names the key")
		}
		if config, err = connect.LoadSettings(ctx, f.directory, configs.Mode(f.mode), "--file FILE needs no configuration"); err != nil {
			return "", nil, err
		}
		path = filepath.Join(config.DataDir, string(config.Mode), journal.FileName)
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", nil, failure.New(failure.NoInput, "botd run makes one; --mode and --file name another", "no journal at %s", path)
	case info.IsDir():
		return "", nil, failure.New(failure.NoInput, "--file "+filepath.Join(path, journal.FileName), "%s is a directory, not a journal", path)
	}
	key, err = journalKey(config)
	return path, key, err
}

// journalKey reads the configured key of the journal's chain; it returns nil if there is none.
func journalKey(config *configs.Config) (*journal.Key, error) {
	secret, err := config.JournalKey()
	return journal.NewKey(secret), failure.Wrap(failure.Config, err)
}

// open opens the journal for reading and returns its path.
func (f *journalFlags) open(ctx context.Context) (store *journal.Journal, path string, err error) {
	path, key, err := f.find(ctx)
	if err != nil {
		return nil, "", err
	}
	store, err = journal.ReadKeyed(ctx, path, key)
	return store, path, journal.Failure(err)
}

// choose opens the journal and returns the filter for the selected records.
func (f *journalFlags) choose(ctx context.Context, records *recordFlags) (*journal.Journal, journal.Filter, error) {
	filter, err := records.filter()
	if err != nil {
		return nil, filter, err
	}
	store, _, err := f.open(ctx)
	if err != nil {
		return nil, filter, err
	}
	if err := f.refuse(ctx, store, records.strategy, records.symbol); err != nil {
		return nil, filter, errors.Join(err, store.Close())
	}
	return store, filter, nil
}

// recordFlags select records.
type recordFlags struct {
	kinds                   []string
	symbol, strategy, since string
	after                   int64
}

func (f *recordFlags) add(command *cobra.Command) {
	command.Flags().StringSliceVar(&f.kinds, "kind", nil, "only these: "+strings.Join(recordKinds(), ", "))
	command.Flags().StringVar(&f.symbol, "symbol", "", "only of this symbol")
	command.Flags().StringVar(&f.strategy, "strategy", "", "only of this strategy")
	command.Flags().StringVar(&f.since, "since", "", "only from this time on: 2h for the last two hours, or a time such as 2026-01-31T15:04")
	command.Flags().Int64Var(&f.after, "after", 0, "only after the record with this sequence number")
}

func recordKinds() (names []string) {
	for _, kind := range record.Kinds() {
		names = append(names, kind.String())
	}
	return names
}

func (f *recordFlags) filter() (journal.Filter, error) {
	filter := journal.Filter{After: f.after, Symbol: f.symbol, Strategy: f.strategy}
	for _, name := range f.kinds {
		kind, err := record.ParseKind(name)
		if err != nil {
			return filter, failure.Usagef("--kind %s: there is %s", name, strings.Join(recordKinds(), ", "))
		}
		filter.Kinds = append(filter.Kinds, kind)
	}
	since, err := moment.ParseSince(f.since)
	filter.SinceMS = since
	return filter, err
}

func newTail() *cobra.Command {
	var (
		from   journalFlags
		choose recordFlags
		last   int
		follow bool
	)
	command := &cobra.Command{
		Use: "tail", Short: "the last records, one per line", Args: cobra.NoArgs,
		Long: `Shows the newest records of the journal, also while botd writes to it. With --follow it continues
until Ctrl-C. -o jsonl prints each complete record on a line, -o json a list of them; quantities
and prices of orders are in units of the symbol's scale, as in the journal.`,
		Example: "  botd journal tail\n  botd journal tail -n 100 --kind sending,ended --symbol BTC-USDT\n  botd journal tail --follow -o jsonl",
		RunE: func(command *cobra.Command, _ []string) error {
			if last < 0 {
				return failure.Usagef("--lines %d: want a number of records, or 0 for all", last)
			}
			write, err := newRecordWriter(command.OutOrStdout(), shell.Output(command), follow)
			if err != nil {
				return err
			}
			store, filter, err := from.choose(command.Context(), &choose)
			if err != nil {
				return err
			}
			defer store.Close()
			filter.Last = last
			if err := tail(command.Context(), store, filter, follow, write.record); err != nil {
				return err
			}
			return write.end()
		},
	}
	from.add(command)
	choose.add(command)
	command.Flags().IntVarP(&last, "lines", "n", 20, "how many records; 0 for all")
	command.Flags().BoolVarP(&follow, "follow", "f", false, "follow new records as they are written")
	shell.OutputFlag(command)
	return command
}

// followEvery is the interval at which tail --follow polls for new records.
const followEvery = time.Second

func tail(ctx context.Context, store *journal.Journal, filter journal.Filter, follow bool, write func(*journal.Stored) error) error {
	print := func(s *journal.Stored) error {
		filter.After = s.Sequence
		return write(s)
	}
	again := time.NewTicker(followEvery)
	defer again.Stop()
	for {
		if err := journal.Failure(store.Select(ctx, filter, print)); err != nil || !follow {
			return err
		}
		filter.Last = 0
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func newExport() *cobra.Command {
	var (
		from   journalFlags
		choose recordFlags
	)
	command := &cobra.Command{
		Use: "export", Short: "every record, as one line of JSON", Args: cobra.NoArgs,
		Long: `Writes the records of the journal to standard output, one line of JSON each, with sequence
number and hash. Without a filter it also verifies the hash chain: the export stops at an altered
record.`,
		Example: "  botd journal export > journal.jsonl\n  botd journal export --kind posting --since 2026-01-01 | jq .lines",
		RunE: func(command *cobra.Command, _ []string) error {
			store, filter, err := from.choose(command.Context(), &choose)
			if err != nil {
				return err
			}
			defer store.Close()
			write, err := newRecordWriter(command.OutOrStdout(), "jsonl", false)
			if err != nil {
				return err
			}
			return journal.Failure(store.Select(command.Context(), filter, write.record))
		},
	}
	from.add(command)
	choose.add(command)
	return command
}

// verifiedJournal is the output of botd journal verify -o json.
type verifiedJournal struct {
	Schema int    `json:"schema"`
	OK     bool   `json:"ok"`
	File   string `json:"file"`
	journal.Report
}

func newVerifyJournal() *cobra.Command {
	var (
		from             journalFlags
		expect, segments string
	)
	command := &cobra.Command{
		Use: "verify", Short: "check the chain of records, the ledger and the derived tables", Args: cobra.NoArgs,
		Long: `Reads a consistent state of the whole journal, also while botd writes to it, and checks

  the file     SQLite's integrity check passes
  the chain    every record carries the hash of the one before it, and its own
  the ledger   every posting sums to zero in each asset, and follows from the readings
  the tables   every row of placements and balances follows from the records
  the binding  the journal's owner is the one that its last start wrote into the chain
  the segments the sealed records, in the same way; segments that were moved away are named,
               and the rest is verified from the state in the checkpoint after them
  the end      the record named in journal.db.head exists: a running botd updates that file
               every minute, at a clean stop, and with each backup

A chain cannot reveal by itself that records were cut off its end, and anyone who can change the
journal can change the head file: note a hash elsewhere, and pass it to --expect. Without
journal_key_file it cannot reveal a complete rewrite either: the result states whether only
consistency is proven, or whether a key authenticates the journal ("proves").

Exit code 1 if a check fails; each problem is shown with its location, expected and actual
value. The last hash is printed: two copies of a journal with the same last hash are equal.`,
		Example: "  botd journal verify\n  botd journal verify --file backup.db -o json\n  botd journal verify --expect " +
			"9e1b86e2aa8b9e24d2c82c6b3ffdc7b7eb5ba4c01e6ebfcaee3442ac9724ed01",
		RunE: func(command *cobra.Command, _ []string) error {
			store, path, err := from.open(command.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			if segments != "" {
				store.Segments(segments)
			}
			report, err := store.Verify(command.Context())
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			if expect != "" {
				there, err := store.Has(command.Context(), expect)
				if err != nil {
					return failure.Wrap(failure.IO, err)
				}
				if !there {
					report.Problems = append(report.Problems, journal.Problem{Table: "record", Want: "a record with hash " + expect, Have: "no such record"})
				}
			}
			found := verifiedJournal{1, len(report.Problems) == 0, path, report}
			if err := shell.Print(command, found, func(w io.Writer) { verifiedText(w, &found) }); err != nil || found.OK {
				return err
			}
			return failure.Quiet()
		},
	}
	from.add(command)
	command.Flags().StringVar(&expect, "expect", "", "a hash noted earlier: a record with it must exist")
	command.Flags().StringVar(&segments, "segments", "", "the directory of the segments with sealed records (default: next to the journal)")
	shell.OutputFlag(command)
	return command
}

// proof describes the guarantees of the chain and their limits.
func (v *verifiedJournal) proof() string {
	switch {
	case v.Proves == journal.ProvesAuthenticity && v.Keyed == 1:
		return "keyed from record 1 on: whoever wrote the records had the key"
	case v.Proves == journal.ProvesAuthenticity:
		return fmt.Sprintf("keyed from record %d on: whoever wrote the records from there on had the key, and earlier ones have not changed since", v.Keyed)
	case v.Keyed > 0:
		return fmt.Sprintf("keyed from record %d on, but checked without the key: this proves only consistency, not authorship", v.Keyed)
	}
	return "not keyed: this proves only consistency; anyone who can write to the file can rebuild it (journal_key_file; --expect HASH)"
}

// where describes the part of the chain that is verified.
func (v *verifiedJournal) where() string {
	if n := len(v.Missing); n > 0 {
		return fmt.Sprintf(" from record %d on", v.Missing[n-1].Last+1)
	}
	return ""
}

func verifiedText(w io.Writer, found *verifiedJournal) {
	if found.OK {
		fmt.Fprintf(w, "ok: %d records, the chain is intact%s; %d ledger postings, %d derived rows\nlast hash %s\n", found.Records, found.where(),
			found.Postings, found.Rows, found.Hash)
		if h := found.Head; h != nil {
			fmt.Fprintf(w, "record %d, the head noted at %s, is still in the chain\n", h.Records, h.At.UTC().Format(time.DateTime))
		}
		if found.Segments > 0 {
			fmt.Fprintf(w, "%d segments with sealed records are intact\n", found.Segments)
		}
		for _, span := range found.Missing {
			fmt.Fprintf(w, "not verified: sealed records %s, whose segments were not found (--segments DIR)\n", span)
		}
		fmt.Fprintln(w, found.proof())
		if found.Older {
			fmt.Fprintln(w, "an older botd wrote it: the next start rebuilds its derived tables, which were not checked")
		}
		return
	}
	shell.WriteTable(w, table.Row{"where", "key", "expected", "actual"}, found.Problems, func(p *journal.Problem) table.Row {
		return table.Row{p.Table, printable.Text(p.Key), printable.Text(p.Want), printable.Text(p.Have)}
	})
	fmt.Fprintf(w, "%d problems in %s, after %d valid records\n", len(found.Problems), found.File, found.Records)
}
