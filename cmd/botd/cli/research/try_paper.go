package research

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/internal/failure"
)

// onPaper continues a try at a venue's prices with a simulated account.
type onPaper struct {
	enabled bool
	venue   string // the venue's address
	listen  string
	run     func(command *cobra.Command, directory, mode, listen string) error
}

func (p *onPaper) add(command *cobra.Command) {
	f := command.Flags()
	f.BoolVar(&p.enabled, "paper", false, "then continue with live data: trade it on paper at a venue's prices, until Ctrl-C")
	f.StringVar(&p.venue, "base-url", "", "with --paper: the venue's address, such as https://...; it needs no keys")
	f.StringVar(&p.listen, "listen", "", "with --paper: the dashboard's address (default 127.0.0.1:8420)")
}

// check rejects inconsistent flags before anything runs.
func (p *onPaper) check() error {
	switch {
	case p.enabled && p.venue == "":
		return failure.Usagef("--paper needs --base-url URL: the venue whose prices it uses")
	case !p.enabled && (p.venue != "" || p.listen != ""):
		return failure.Usagef("--base-url and --listen require --paper")
	}
	return nil
}

// goOn writes a configuration of mode paper into the try's directory and runs it. A second try with --paper
// continues the account and the journal of the first.
func (t *tried) goOn(command *cobra.Command, c *configs.StrategyConfig) error {
	directory := filepath.Join(t.out, "paper")
	strategies := filepath.Join(directory, "strategies")
	if err := os.MkdirAll(strategies, 0o700); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	data, err := filepath.Abs(filepath.Join(directory, "data"))
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	put := func(name, text string) error {
		return os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600)
	}
	errs := []error{
		put("botd.yaml", fmt.Sprintf("mode: paper\ninstance: try\ndata_dir: %q\nexchange: {base_url: %q}\nsimulated: {futures: %[3]s, spot: {USDT: %[3]s}}\n",
			data, t.paper.venue, c.Backtest.Cash)),
		put(path.Join("strategies", c.Name+".yaml"), c.Effective()),
	}
	if c.Script.File != "" {
		copied := path.Join("strategies", path.Dir(c.Script.File))
		errs = append(errs, os.MkdirAll(filepath.Join(directory, filepath.FromSlash(copied)), 0o700),
			put(path.Join("strategies", c.Script.File), c.Script.Text))
		for _, library := range c.Script.Libraries {
			name := path.Join(copied, library.Name)
			errs = append(errs, os.MkdirAll(filepath.Join(directory, filepath.FromSlash(path.Dir(name))), 0o700), put(name, string(library.Text)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	w := command.OutOrStdout()
	fmt.Fprintf(w, "paper     continues in %s at the prices of %s; Ctrl-C ends it, the same command resumes it\n", directory, t.paper.venue)
	fmt.Fprintf(w, "compare   its page in the dashboard, under Live vs. backtest, or: botd parity %s -c %s --out %s\n", c.Name, directory,
		filepath.Join(t.out, "live"))
	return t.paper.run(command, directory, "paper", t.paper.listen)
}
