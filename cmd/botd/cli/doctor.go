package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/configs/engineconfig"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/internal/version"
	"botd/runtime/api/client"
)

// finding is one thing the doctor looked at.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warn, fail
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

// The states of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

// patient is what the doctor looks at.
type patient struct {
	load    func() (*configs.Config, configs.Problems, error) // reads the configuration
	daemon  func(context.Context) (*client.Daemon, error)     // finds the daemon that runs on it
	address string                                            // of the daemon, when a person gave one
}

// examination is what botd doctor found so far.
type examination struct {
	ctx       context.Context
	of        patient
	config    *configs.Config // nil when it could not be read
	directory string          // of the mode's data
	findings  []finding
}

func (e *examination) ok(check, format string, values ...any) {
	e.find(check, stateOK, "", format, values...)
}

func (e *examination) warn(check, mend, format string, values ...any) {
	e.find(check, stateWarn, mend, format, values...)
}

func (e *examination) fail(check, mend, format string, values ...any) {
	e.find(check, stateFail, mend, format, values...)
}

func (e *examination) find(check, state, mend, format string, values ...any) {
	e.findings = append(e.findings, finding{check, state, fmt.Sprintf(format, values...), mend})
}

// hinted takes an error of botd's own, whose hint is what mends it.
func (e *examination) hinted(check, state string, err error) { e.hintedOr(check, state, "", err) }

// hintedOr takes an error that may come from elsewhere; mend is for one without a hint.
func (e *examination) hintedOr(check, state, mend string, err error) {
	what, hint, _ := strings.Cut(err.Error(), "hint: ")
	e.find(check, state, cmp.Or(strings.TrimSpace(hint), mend), "%s", strings.TrimSpace(what))
}

// diagnosis is what botd doctor -o json prints.
type diagnosis struct {
	Schema   int       `json:"schema"`
	OK       bool      `json:"ok"` // nothing failed
	Failures int       `json:"failures"`
	Warnings int       `json:"warnings"`
	Findings []finding `json:"findings"`
}

func (d diagnosis) Rows() any { return d.Findings }

// patient is the configuration and the daemon of the flags.
func (a *askFlags) patient() patient {
	return patient{daemon: a.daemon, address: cmp.Or(a.url, a.address), load: func() (*configs.Config, configs.Problems, error) { return load(a.directory, "") }}
}

// doctorPatience bounds each look at something outside this process.
const doctorPatience = 15 * time.Second

func newDoctor() *cobra.Command {
	var flags askFlags
	command := &cobra.Command{
		Use: "doctor", Short: "is everything right: clock, disk, permissions, configuration, venue, journal, version", Args: cobra.NoArgs,
		Long: `Looks at everything that keeps botd from running well, and says what mends it. Nothing is
changed and no order is sent: of a venue with keys it reads the account, to try the
signature. It may be run while botd runs. Exit code 1 when something fails; a warning
leaves 0.`,
		Example: "  botd doctor\n  botd doctor -c /etc/botd -o json | jq '.findings[] | select(.state != \"ok\")'",
		RunE: func(command *cobra.Command, _ []string) error {
			d := examine(command.Context(), flags.patient())
			err := shell.Print(command.OutOrStdout(), flags.output, d, func(w io.Writer) { doctorTable(w, &d, shell.Colours(command, w)) })
			if err == nil && !d.OK {
				return failure.Quiet()
			}
			return err
		},
	}
	flags.add(command)
	shell.OutputFlag(command, &flags.output)
	return command
}

// examine makes every check, each whatever the ones before it found.
func examine(ctx context.Context, of patient) diagnosis {
	e := &examination{ctx: ctx, of: of}
	e.version()
	e.configuration()
	if e.config != nil {
		e.directory = filepath.Join(e.config.DataDir, string(e.config.Mode))
		e.permissions()
		e.disk()
		e.journal()
		e.venue()
		e.daemon()
	}
	d := diagnosis{Schema: 1, Findings: e.findings}
	for _, f := range e.findings {
		switch f.State {
		case stateFail:
			d.Failures++
		case stateWarn:
			d.Warnings++
		}
	}
	d.OK = d.Failures == 0
	return d
}

func (e *examination) version() {
	info := version.Read()
	revision := info.Revision
	if len(revision) > 12 {
		revision = revision[:12]
	}
	if info.Modified {
		e.warn("version", "build from a clean checkout before trading with money", "%s, built from changed sources, %s", version.Spaced("botd", info.Version, revision), info.Go)
		return
	}
	e.ok("version", "%s, %s, %s", version.Spaced("botd", info.Version, revision), info.Go, info.Platform)
}

func (e *examination) configuration() {
	config, problems, err := e.of.load()
	if err != nil {
		e.hinted("configuration", stateFail, err)
		return
	}
	e.config = config
	switch {
	case problems.Errors() > 0:
		e.fail("configuration", "botd check says each with file and line", "%s; the first: %s", plural.Of(problems.Errors(), "error"), first(problems))
		return
	case problems.Warnings() > 0:
		e.warn("configuration", "botd check says each with file and line", "%s; the first: %s", plural.Of(problems.Warnings(), "warning"), first(problems))
	default:
		e.ok("configuration", "%s, %s, mode %s", plural.Of(len(config.Files), "file"), plural.Of(len(config.Strategies), "strategy"), config.Mode)
	}
	if err := engineconfig.Supported(config); err != nil {
		e.hinted("configuration", stateFail, err)
	}
}

func first(problems configs.Problems) string {
	line, _, _ := strings.Cut(problems[0].String(), "\n")
	return line
}

func doctorTable(w io.Writer, d *diagnosis, coloured bool) {
	t := shell.NewTable(w, table.Row{"check", "state", "what", "mend"})
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "what", WidthMax: 70, WidthMaxEnforcer: text.WrapSoft}, {Name: "mend", WidthMax: 50, WidthMaxEnforcer: text.WrapSoft}})
	for _, f := range d.Findings {
		state := f.State
		if coloured {
			state = map[string]text.Color{stateOK: text.FgGreen, stateWarn: text.FgYellow, stateFail: text.FgRed}[f.State].Sprint(state)
		}
		t.AppendRow(table.Row{f.Check, state, f.What, f.Mend})
	}
	t.Render()
	switch {
	case d.Failures > 0:
		fmt.Fprintf(w, "%s, %s\n", plural.Of(d.Failures, "failure"), plural.Of(d.Warnings, "warning"))
	case d.Warnings > 0:
		fmt.Fprintf(w, "%s\n", plural.Of(d.Warnings, "warning"))
	default:
		fmt.Fprintln(w, "all is well")
	}
}
