package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/reconcile/record"
	"botd/runtime/api"
	"botd/runtime/api/client"
	"botd/runtime/haltfile"
)

type haltFlags struct {
	connect.Flags
	api.HaltRequest
	wait time.Duration
}

// part adds the flags that select a part of the account.
func (f *haltFlags) part(command *cobra.Command, what string) {
	command.Flags().StringVar(&f.Strategy, "strategy", "", what+" only this strategy")
	command.Flags().StringVar(&f.Symbol, "symbol", "", what+" only this symbol")
	command.Flags().StringVar(&f.Market, "market", "", "futures or spot, for a --symbol traded in both")
}

// NewHalt returns the command botd halt.
func NewHalt() *cobra.Command {
	var flags haltFlags
	var level string
	command := &cobra.Command{
		Use: "halt", Short: "the kill switch: stop entries, cancel, or flatten", Args: cobra.NoArgs,
		Long: `Halts trading on the running daemon, durably: the halt is in the journal before this command
returns, and a restarted daemon stays halted and completes what remains to be done.

  pause    nothing opens; exits and stops continue
  cancel   and resting opening orders are canceled
  flatten  and positions are closed at market

Exit code 0 means that the halt is complete, or that the exchange has accepted the orders
that complete it; 75 that something cannot be seen or closed yet, with a line for each case
(-o json: the field blind). The command follows the halt for ten seconds, or for --wait.
A halt can only be made more severe; botd rearm ends it. While the exchange fails, the halt
stays in force and is retried until it is complete.
While no botd answers (none runs, or one has just started), the halt is stored next to the journal
(exit code 69): the next start applies it before anything is sent, and a running daemon that did
not answer applies it within seconds.
On a live account, a person at a terminal sees what will be sent and must confirm it.`,
		Example: `  botd halt --level flatten --reason "news" --dry-run     # each order it would send, and nothing sent
  botd halt --level flatten --reason "news" --wait 1m
  botd halt --level pause --strategy trend --reason "watching it"`,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if flags.Level, err = levelNamed(level); err != nil {
				return err
			}
			return flags.halt(command)
		},
	}
	command.Flags().StringVar(&level, "level", record.LevelPause.String(), "pause, cancel or flatten")
	flags.part(command, "halt")
	flags.actionFlags(command)
	return command
}

// levelNamed reads the level of a halt.
func levelNamed(name string) (record.HaltLevel, error) {
	level, err := record.ParseHaltLevel(name)
	if err == nil && level != record.LevelNone {
		return level, nil
	}
	names := record.HaltLevels()
	text := fmt.Sprintf("--level %s: there is %s", name, strings.Join(names, ", "))
	if near := spell.Nearest(name, names); near != "" {
		text += "\nhint: did you mean " + near + "?"
	}
	return level, failure.Usagef("%s", text)
}

// actionFlags adds the flags of every halting command.
func (f *haltFlags) actionFlags(command *cobra.Command) {
	connect.ReasonFlag(command, &f.Reason)
	shell.DryRunFlag(command, &f.DryRun, "show exactly what would be sent, and send nothing")
	command.Flags().DurationVar(&f.wait, "wait", 0, "wait up to this long for completion (exit code 75 if it is not complete)")
	f.Add(command)
}

func (f *haltFlags) halt(command *cobra.Command) error {
	if err := connect.CheckReason(command, f.Reason, f.DryRun); err != nil {
		return err
	}
	d, err := f.Reach(command)
	if err != nil {
		if d, err = f.later(command, err); err != nil {
			return err
		}
	}
	if err := f.confirm(command, d); err != nil {
		return err
	}
	out, raw, err := connect.Post[api.HaltAnswer](command, d, "/api/v1/risk/halt", f.HaltRequest)
	if err != nil {
		return err
	}
	if f.DryRun || f.Level == record.LevelPause {
		return shell.Print(command, raw, func(w io.Writer) { showHalt(w, &out) })
	}
	person := shell.Output(command) == "table"
	if person { // a person sees at once what is sent
		if err := shell.PrintTable(command.OutOrStdout(), func(w io.Writer) { showHalt(w, &out) }); err != nil {
			return err
		}
	}
	state, ended := follow(command, d, out.Scope, f.wait)
	out.Blind = state.Blind
	if !person {
		if err := shell.Print(command, &out, func(io.Writer) {}); err != nil {
			return err
		}
	}
	return ended
}

// later saves a halt for the next start when no daemon responds: the daemon may be waiting for a failing exchange, or systemd may be about to
// restart it. It returns the reason why no daemon was reached and what was done instead, or the daemon if one responds after all.
func (f *haltFlags) later(command *cobra.Command, unreached error) (*connect.Running, error) {
	var code *failure.Error
	if f.DryRun || f.Address != "" || !errors.As(unreached, &code) || code.Code != failure.Unavailable {
		return nil, unreached
	}
	config, err := connect.LoadSettings(command.Context(), f.Directory, "", connect.CheckHint)
	if err != nil {
		return nil, unreached
	}
	halt := haltfile.Halt{AtMS: time.Now().UnixMilli(), By: haltfile.Operator(), Level: f.Level, Reason: f.Reason, Strategy: f.Strategy,
		Market: f.Market, Symbol: f.Symbol}
	path, err := haltfile.Store(config, halt, func(warning string) { fmt.Fprintln(command.ErrOrStderr(), warning) })
	if errors.Is(err, haltfile.ErrNoJournal) {
		return nil, unreached
	}
	if err != nil {
		return nil, err
	}
	if d, err := f.Reach(command); err == nil { // the daemon has started meanwhile and responds itself
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, failure.Wrap(failure.IO, err)
		}
		return d, nil
	}
	return nil, failure.New(failure.Unavailable, "the next botd run applies the halt before anything is sent; a running one "+
		"that did not answer applies it within seconds",
		"no daemon answers: the halt is stored in %s", path)
}

// confirm shows a person at a terminal what a halt sends to a live account, and asks for the instance's name. It
// does not ask a program: a halt must not hang.
func (f *haltFlags) confirm(command *cobra.Command, d *connect.Running) error {
	if f.DryRun || f.Level == record.LevelPause {
		return nil
	}
	request := f.HaltRequest
	request.DryRun = true
	return confirmLive(command, d, "/api/v1/risk/halt", request, showHalt)
}

// confirmLive asks a person at a terminal before anything is sent to a live account, and first shows the result
// of a dry run. A caller that needs no confirmation also passes --yes.
func confirmLive(command *cobra.Command, d *connect.Running, path string, trial any, show func(io.Writer, *api.HaltAnswer)) error {
	given := shell.GlobalsOf(command.Context())
	if d.Status.Mode != string(configs.Live) || given.Yes {
		return nil
	}
	if given.NoInput {
		return failure.Usagef("instance %s is live, and --no-input prevents confirmation: add --yes", d.Status.Instance)
	}
	person, there := shell.Person(command)
	if !there {
		return nil // a program that answered neither question: a halt must neither hang nor be rejected
	}
	would, _, err := connect.Post[api.HaltAnswer](command, d, path, trial)
	if err != nil {
		return err
	}
	w := shell.Question(command)
	fmt.Fprintf(w, "LIVE instance %s. ", d.Status.Instance)
	show(w, &would)
	fmt.Fprintf(w, "Type %s to continue: ", d.Status.Instance)
	line, err := bufio.NewReader(person).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != d.Status.Instance {
		return failure.New(failure.Negative, "--yes skips this question", "nothing was changed")
	}
	return nil
}

func showHalt(w io.Writer, h *api.HaltAnswer) {
	if h.DryRun {
		fmt.Fprintf(w, "a halt of the %s at level %s would send, now:\n", h.Scope, h.Level)
	}
	for i := range h.Steps {
		fmt.Fprintln(w, "  "+h.Steps[i].Text)
	}
	for _, line := range h.Blind {
		fmt.Fprintln(w, "  cannot see or close yet: "+line)
	}
	switch {
	case len(h.Steps) == 0 && h.Level == record.LevelPause:
		fmt.Fprintln(w, "  no order: exits and stops continue")
	case len(h.Steps) == 0 && len(h.Blind) == 0:
		fmt.Fprintln(w, "  no order: the newest read shows nothing to cancel or close")
	}
	if h.DryRun {
		return
	}
	fmt.Fprintf(w, "halted: %s (%s). Rearm with: botd rearm%s\n", h.Level, h.Reason, scopeFlags(h.Scope))
}

// scopeFlags returns the flag that selects a scope on the command line.
func scopeFlags(scope string) string {
	fields := strings.Fields(scope)
	switch {
	case len(fields) == 2 && fields[0] == "strategy":
		return " --strategy " + fields[1]
	case len(fields) == 3 && fields[0] == "symbol":
		return " --market " + fields[1] + " --symbol " + fields[2]
	}
	return ""
}

// follow prints the progress of a halt. Without a time to wait it ends when the exchange has accepted the orders, with a hint at --wait.
func follow(command *cobra.Command, d *connect.Running, scope string, wait time.Duration) (client.HaltProgress, error) {
	state, err := d.FollowHalt(command.Context(), scope, wait, func(line string) { fmt.Fprintln(command.ErrOrStderr(), line) })
	if err == nil && state.Doing != "" {
		fmt.Fprintln(command.ErrOrStderr(), "hint: --wait 1m follows them to their end")
	}
	return state, err
}

// NewRearm returns the command botd rearm.
func NewRearm() *cobra.Command {
	var flags haltFlags
	command := &cobra.Command{
		Use: "rearm", Short: "end a halt", Args: cobra.NoArgs,
		Long: `Ends a halt: the account's, or with --strategy or --symbol that of one part. Rearming a strategy
by name also releases its latch. Anything that still blocks trading is listed.`,
		Example: "  botd rearm --dry-run\n  botd rearm\n  botd rearm --strategy trend",
		RunE:    func(command *cobra.Command, _ []string) error { return flags.rearm(command) },
	}
	shell.DryRunFlag(command, &flags.DryRun, "show what would end, and change nothing")
	connect.ReasonFlag(command, &flags.Reason)
	flags.part(command, "arm")
	flags.Add(command)
	return command
}

func (f *haltFlags) rearm(command *cobra.Command) error {
	d, err := f.Reach(command)
	if err != nil {
		return err
	}
	out, raw, err := connect.Post[api.HaltAnswer](command, d, "/api/v1/risk/rearm",
		api.RearmRequest{HaltScope: f.HaltScope, ReasonRequest: f.ReasonRequest})
	if err != nil {
		return err
	}
	return shell.Print(command, raw, func(w io.Writer) {
		if out.DryRun {
			fmt.Fprintln(w, "it would be rearmed (--dry-run):")
		} else {
			fmt.Fprintln(w, "armed")
		}
		for _, line := range out.Effects {
			fmt.Fprintln(w, "  "+line)
		}
		showDegraded(w, out.StillBlocking)
	})
}
