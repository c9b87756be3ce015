package venue

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/probe"
	"botd/exchange/wire"
	"botd/internal/failure"
	"botd/internal/plural"
)

type probeFlags struct {
	url, directory, keyFile, secretFile string
	payload, encoding                   string
	symbol, distance, out               string
	spend                               string
	rounds                              int
	trade, noFills                      bool
	requests, tries                     int
}

// NewProbe returns the command botd probe.
func NewProbe() *cobra.Command {
	var flags probeFlags
	command := &cobra.Command{
		Use: "probe", Short: "examine a venue: public data, clock, signature, window, delays", Args: cobra.NoArgs,
		Long: `Examines a venue from outside, step by step, and prints what to write into botd.yaml.

Without keys it checks whether the venue can be reached, whether botd understands every public
operation, and how far its clock is off. With keys it determines the payload that must be signed
(orders of the parts, separators, treatments of query and body, encodings and paths are tried by
signed reads, the likely ones first, until one is accepted) and how old a signed request may be (W,
by reads with increasingly old timestamps). Nothing is placed, canceled or changed.

--trade also measures D and L: it places the smallest LIMIT BUY (postOnly) far below the price,
polls until it is listed, cancels it, and polls until it is no longer listed; on futures, and on
spot if the symbol exists there. It then buys the smallest quantity that can be sold again in parts,
tries a stop, a partial fill if the best level is small, and a reduceOnly order, and closes
everything. These are real orders, which cost fees and the spread (--no-fills omits them). It
determines which lists echo client order ids, how fast each list shows a change, and how status
words, numbers and empty lists are written. An existing position on the symbol is left alone. After
--requests it sends only closing orders.

--out FILE writes the results as the venue's profile, including what could not be determined.

If no scheme matches, up to 400 wrong signatures are sent (--signature-tries); some venues suspend a
key after fewer. If you know the payload, pass it as --signature-payload: it is tried first.

Exit codes: 0 nothing failed, 1 a step failed, 69 not reached, 77 key or signature refused.`,
		Example: `  botd probe --base-url https://VENUE
  botd probe --base-url https://VENUE --key-file key --secret-file secret
  botd probe -c configs --trade --symbol BTC-USDT -o json`,
		RunE: func(command *cobra.Command, _ []string) error { return runProbe(command, flags) },
	}
	f := command.Flags()
	f.StringVar(&flags.url, "base-url", "", "the venue's address (default: the configuration's)")
	f.StringVarP(&flags.directory, "config", "c", "", "configuration directory, for address, keys and signature")
	f.StringVar(&flags.keyFile, "key-file", "", "file of mode 600 that holds the API key")
	f.StringVar(&flags.secretFile, "secret-file", "", "file of mode 600 that holds the secret")
	f.StringVar(&flags.payload, "signature-payload", "", "the signed payload to try first: exchange.signature.payload of docs/configuration.md")
	f.StringVar(&flags.encoding, "signature-encoding", "", "the encoding to try first: hex or base64")
	f.IntVar(&flags.tries, "signature-tries", 400, "maximum number of wrong signatures to send")
	f.StringVar(&flags.out, "out", "", "write the results to this file, for exchange.profile: FILE")
	f.BoolVar(&flags.trade, "trade", false, "place, fill and cancel tiny real orders to measure D, L and other behavior of the venue")
	f.BoolVar(&flags.noFills, "no-fills", false, "with --trade: only orders that rest and are canceled")
	f.IntVar(&flags.requests, "requests", 5000, "maximum number of requests")
	f.StringVar(&flags.spend, "spend", "",
		"USDT to spend on a partial fill at most, which takes slightly more than the best level (default 10 times the smallest order)")
	f.StringVar(&flags.symbol, "symbol", "", "the futures symbol of --trade, which needs one, and of the public steps (default BTC-USDT)")
	f.StringVar(&flags.distance, "distance", "20%", "distance of the --trade order below the best bid")
	f.IntVar(&flags.rounds, "rounds", 3, "number of orders that --trade places in sequence")
	shell.OutputFlag(command)
	return command
}

func runProbe(command *cobra.Command, flags probeFlags) error {
	settings, err := flags.settings(command.Context(), shell.Output(command))
	if err != nil {
		return err
	}
	if shell.Output(command) == "table" {
		settings.Progress = func(step probe.Step) { fmt.Fprintf(command.ErrOrStderr(), "%-4s  %s\n", step.Outcome, step.Name) }
	}
	if err := writable(flags.out); err != nil {
		return err
	}
	report, err := probe.Run(command.Context(), settings)
	if err != nil {
		return failure.Wrap(failure.Usage, err)
	}
	if err := shell.Print(command, report, func(w io.Writer) { probeTable(w, report) }); err != nil {
		return err
	}
	if flags.out != "" {
		if err := os.WriteFile(flags.out, []byte(report.Profile(time.Now().UTC())), 0o644); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	if err := context.Cause(command.Context()); err != nil {
		return err
	}
	switch {
	case !report.Reached:
		return failure.New(failure.Unavailable, "is the address right, and is the venue up?", "%s could not be reached", report.BaseURL)
	case report.Refused:
		return failure.New(failure.Credentials, "see the step's hint", "no signed request was accepted")
	case report.Failed() > 0:
		return failure.New(failure.Negative, "", "%s failed", plural.Of(report.Failed(), "step"))
	}
	return nil
}

// writable returns an error for a file that cannot be written, before any request is sent.
func writable(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return failure.Wrap(failure.IO, fmt.Errorf("--out: %w", err))
	}
	return nil
}

// settings merges the flags with the configuration; a flag takes precedence.
func (f *probeFlags) settings(ctx context.Context, output string) (probe.Config, error) {
	config := probe.Config{BaseURL: f.url, Trade: f.trade, Symbol: f.symbol, Rounds: f.rounds, NoFills: f.noFills, Requests: f.requests,
		Tries: f.tries}
	at := configs.ExchangeConfig{KeyFile: f.keyFile, SecretFile: f.secretFile}
	if f.url == "" {
		loaded, err := connect.LoadSettings(ctx, f.directory, "", connect.CheckHint)
		if err != nil {
			return config, err
		}
		if loaded.Exchange.BaseURL == "" {
			return config, failure.Usagef("probe needs --base-url URL, or exchange.base_url in botd.yaml")
		}
		config.BaseURL, at = loaded.Exchange.BaseURL, loaded.Exchange
		at.KeyFile, at.SecretFile = cmp.Or(f.keyFile, at.KeyFile), cmp.Or(f.secretFile, at.SecretFile)
	}
	config.Signer = wire.Signer{Template: cmp.Or(f.payload, at.Signature.Payload), Encoding: cmp.Or(f.encoding, at.Signature.Encoding),
		Paths: at.Signature.Paths}
	if at.KeyFile != "" || at.SecretFile != "" || at.CredentialsDirectory != "" {
		key, secret, err := configs.ReadSecrets(at)
		if err != nil {
			return config, failure.Wrap(failure.Credentials, err)
		}
		config.Key, config.Secret = key, secret
	}
	share, err := exchange.ParseRate(strings.TrimSuffix(f.distance, "%"))
	if percent := strings.HasSuffix(f.distance, "%"); err == nil && percent {
		share /= 100
	}
	if config.Distance = share; err != nil || share <= 0 || share >= exchange.RateOne {
		return config, failure.Usagef("--distance %q: want a share such as 20%%, above 0 and below 100%%", f.distance)
	}
	if f.spend != "" {
		if config.Spend, err = exchange.ParseAmount(f.spend); err != nil || config.Spend.Sign() <= 0 {
			return config, failure.Usagef("--spend %q: want an amount of USDT above 0", f.spend)
		}
	}
	switch {
	case f.tries < 1:
		return config, failure.Usagef("--signature-tries %d: want at least 1", f.tries)
	case f.trade && f.symbol == "":
		return config, failure.Usagef("--trade needs --symbol SYMBOL: it places real orders there")
	case f.trade && config.Key == "":
		return config, failure.Usagef("--trade needs --key-file and --secret-file")
	case output != "table" && output != "json": // checked before any request is sent
		return config, failure.Usagef("-o %s: table or json", output)
	case f.requests < 1:
		return config, failure.Usagef("--requests %d: want at least 1", f.requests)
	case f.rounds < 1 || f.rounds > 100:
		return config, failure.Usagef("--rounds %d: from 1 to 100", f.rounds)
	}
	return config, nil
}

func probeTable(w io.Writer, r *probe.Report) {
	t := shell.NewTable(w, table.Row{"step", "", "status", "ms", "what"})
	for _, s := range r.Steps {
		status, took, what := "", "", s.What
		if s.Status != 0 {
			status = fmt.Sprint(s.Status)
		}
		if s.LatencyMS != 0 {
			took = fmt.Sprintf("%.1f", s.LatencyMS)
		}
		if s.Hint != "" {
			what += "\nhint: " + s.Hint
		}
		t.AppendRow(table.Row{s.Name, s.Outcome, status, took, what})
	}
	for _, list := range r.Lists {
		echoes := "echoes client order ids"
		if !list.Echoes {
			echoes = "does not echo client order ids"
		}
		t.AppendRow(table.Row{list.List, probe.OK, "", "", fmt.Sprintf("%s, shown after %d ms", echoes, list.AfterMS)})
	}
	for _, habit := range r.Habits {
		t.AppendRow(table.Row{"habit", probe.OK, "", "", habit + " (docs/exchange.md, Variants)"})
	}
	for _, unknown := range r.Unknown() {
		t.AppendRow(table.Row{"not determined", "", "", "", unknown})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "what", WidthMax: 110}})
	t.Render()
	fmt.Fprintf(w, "\n# for botd.yaml\nexchange:\n  base_url: %s\n", r.BaseURL)
	if s := r.Signature; s != nil {
		fmt.Fprintf(w, "  signature: {payload: %q, encoding: %s}\n", s.Payload, s.Encoding)
		if s.Paths != wire.SignFull {
			fmt.Fprintf(w, "  profile: {paths: {sign: %s}}\n", s.Paths)
		}
	} else {
		fmt.Fprintln(w, "  # signature: not measured")
	}
	s := &r.Settings
	line := func(name string, ms int64, meaning string) {
		how := "measured: " + meaning
		if !s.Has(name) {
			how = "not measured; cautious"
		}
		fmt.Fprintf(w, "    %s: %s # %s\n", name, settingText(ms), how)
	}
	fmt.Fprintln(w, "  settle:")
	line("window", s.WindowMS, "the oldest timestamp accepted")
	line("visibility", s.VisibilityMS, "the longest until an order was seen, times 4, at least 1s")
	line("staleness", s.StalenessMS, "the oldest read, times 4, at least 1s")
	if s.RequestsPerSecond > 0 {
		fmt.Fprintf(w, "  requests_per_second: %d # the rate at which the venue stopped refusing requests; ask the venue\n", s.RequestsPerSecond)
	}
}

// settingText formats a duration as in botd.yaml.
func settingText(ms int64) string {
	if ms%1000 == 0 {
		return fmt.Sprintf("%ds", ms/1000)
	}
	return fmt.Sprintf("%dms", ms)
}
