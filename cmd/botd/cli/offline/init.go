package offline

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/internal/spell"
)

// initFlags hold the input for a new configuration.
type initFlags struct {
	mode, instance, listen, baseURL, keyFile, secretFile string
	strategies                                           []string
	dry                                                  bool
}

// NewInit returns the command botd init.
func NewInit() *cobra.Command {
	var flags initFlags
	command := &cobra.Command{
		Use: "init [DIR]", Short: "write a commented configuration to start from", Args: cobra.MaximumNArgs(1),
		Long: `Writes botd.yaml and strategies/*.yaml into DIR (default ./configs), every key commented,
validates them as botd check does, and prints the next steps. At a terminal it prompts for
values that no flag sets; --no-input never prompts. Existing files are never overwritten.

A configuration for live gets no strategy unless --strategy names one.`,
		Example: `  botd init
  botd init my-botd --mode paper --base-url https://VENUE --strategy trend --no-input
  botd init --mode live --base-url https://VENUE --key-file /etc/botd/key --secret-file /etc/botd/secret`,
		RunE: func(command *cobra.Command, names []string) error {
			directory := "configs"
			if len(names) == 1 {
				directory = names[0]
			}
			return flags.run(command, directory)
		},
	}
	f, names := command.Flags(), configs.ExampleNames()
	f.StringVar(&flags.mode, "mode", "", "demo, paper or live (default demo)")
	f.StringVar(&flags.instance, "instance", "", "1 to 10 of a-z and 0-9; part of every order's id (default main)")
	f.StringVar(&flags.listen, "listen", "", "address of dashboard and API; choose a different one for a second botd on the machine (default 127.0.0.1:8420)")
	f.StringVar(&flags.baseURL, "base-url", "", "the venue's address; paper and live need it")
	f.StringVar(&flags.keyFile, "key-file", "", "file of mode 600 with the API key; for live")
	f.StringVar(&flags.secretFile, "secret-file", "", "file of mode 600 with its secret; for live")
	f.StringSliceVar(&flags.strategies, "strategy", nil, "examples to start with: "+strings.Join(names, ", ")+", or none (default all; for live none)")
	shell.DryRunFlag(command, &flags.dry, "name the files, and write none")
	shell.CompleteWith(command, "strategy", append(names, "none")...)
	return command
}

func readAll(files fs.FS, name string) (string, error) {
	text, err := fs.ReadFile(files, name)
	return string(text), err
}

func (f *initFlags) run(command *cobra.Command, directory string) error {
	if err := f.ask(command); err != nil {
		return err
	}
	if err := f.complete(); err != nil {
		return err
	}
	texts, err := f.scaffold().Files()
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(texts))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(directory, name)); !errors.Is(err, fs.ErrNotExist) {
			return failure.New(failure.Usage, "choose another directory, or move that file; nothing was written", "%s exists already",
				filepath.Join(directory, name))
		}
	}
	if !f.dry {
		if err := writeAll(directory, names, texts); err != nil {
			return failure.Wrap(failure.IO, err)
		}
	}
	for _, name := range names {
		fmt.Fprintln(command.OutOrStdout(), filepath.Join(directory, filepath.FromSlash(name)))
	}
	if f.dry {
		fmt.Fprintln(command.ErrOrStderr(), shell.NothingDone)
		return nil
	}
	return f.next(command, directory)
}

// writeAll writes new files, or none of them: a partial configuration would block a second attempt.
func writeAll(directory string, names []string, texts map[string]string) error {
	for i, name := range names {
		path := filepath.Join(directory, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(texts[name]), 0o644)
		}
		if err == nil {
			continue
		}
		for _, written := range names[:i+1] {
			if failed := os.Remove(filepath.Join(directory, filepath.FromSlash(written))); !errors.Is(failed, fs.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
		return err
	}
	return nil
}

// ask asks a person for every value that no flag gives.
func (f *initFlags) ask(command *cobra.Command) error {
	person, there := shell.Person(command)
	if !there {
		return nil
	}
	answers := bufio.NewReader(person)
	put := func(flag string, into *string, text, standard string, wrong func(answer string) string) error {
		if command.Flags().Changed(flag) {
			return nil
		}
		for {
			fmt.Fprintf(shell.Question(command), "%s [%s]: ", text, standard)
			line, err := answers.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return failure.Wrap(failure.IO, err)
			}
			*into = cmp.Or(strings.TrimSpace(line), standard)
			why := wrong(*into)
			if why == "" || err != nil { // the reader reports an invalid answer at the end of the input
				return nil
			}
			fmt.Fprintln(shell.Question(command), "  "+why)
		}
	}
	if err := put("mode", &f.mode, "mode: demo (a simulated exchange), paper (real prices, no keys) or live", "demo", wrongMode); err != nil {
		return err
	}
	if err := put("instance", &f.instance, "instance: a short name, part of every order's id", "main", wrongInstance); err != nil ||
		f.mode == string(configs.Demo) {
		return err
	}
	if err := put("base-url", &f.baseURL, "address of the venue", "https://", wrongAddress); err != nil || f.mode != string(configs.Live) {
		return err
	}
	return errors.Join(put("key-file", &f.keyFile, "file that holds the API key, mode 600", "/etc/botd/key", never),
		put("secret-file", &f.secretFile, "file that holds its secret, mode 600", "/etc/botd/secret", never))
}

// These check an answer at once, so that a mistake costs one question and not all of them.

func wrongMode(answer string) string {
	modes := []string{string(configs.Demo), string(configs.Paper), string(configs.Live)}
	if slices.Contains(modes, answer) {
		return ""
	}
	if near := spell.Nearest(answer, modes); near != "" {
		return "there is no mode " + answer + "; did you mean " + near + "?"
	}
	return "demo, paper or live"
}

func wrongInstance(answer string) string {
	if configs.InstanceNamed(answer) {
		return ""
	}
	return "1 to 10 of a-z and 0-9"
}

func wrongAddress(answer string) string {
	address, err := url.Parse(answer)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return "an address such as https://venue.example"
	}
	return ""
}

func wrongListen(address string) bool {
	host, port, err := net.SplitHostPort(address)
	n, wrong := strconv.Atoi(port)
	return err != nil || wrong != nil || n < 1 || n > 65_535 || strings.ContainsAny(host, " \t\n#'\"")
}

func never(string) string { return "" }

// complete checks the given values and fills in the rest.
func (f *initFlags) complete() error {
	if f.mode == "" {
		f.mode = string(configs.Demo)
	}
	f.instance = cmp.Or(f.instance, "main")
	mode := configs.Mode(f.mode)
	switch {
	case mode != configs.Demo && mode != configs.Paper && mode != configs.Live:
		return failure.Usagef("--mode %s: demo, paper or live", f.mode)
	case f.listen != "" && wrongListen(f.listen):
		return failure.Usagef("--listen %s: want host:port, such as 127.0.0.1:8420", f.listen)
	case mode != configs.Demo && (f.baseURL == "" || f.baseURL == "https://"):
		return failure.Usagef("mode %s needs --base-url, the venue's address", f.mode)
	case mode == configs.Live && (f.keyFile == "") != (f.secretFile == ""):
		return failure.Usagef("--key-file and --secret-file go together")
	}
	if f.strategies == nil && mode != configs.Live {
		f.strategies = configs.ExampleNames()
	}
	for _, name := range f.strategies {
		if name != "none" && !slices.Contains(configs.ExampleNames(), name) {
			return failure.Usagef("--strategy %s: there are %s, and none\nhint: botd strategy new writes one of your own", name,
				strings.Join(configs.ExampleNames(), ", "))
		}
	}
	return nil
}

// scaffold returns the configuration to write.
func (f *initFlags) scaffold() *configs.Scaffold {
	return &configs.Scaffold{Mode: configs.Mode(f.mode), Instance: f.instance, Listen: f.listen, BaseURL: f.baseURL, KeyFile: f.keyFile,
		SecretFile: f.secretFile, Strategies: slices.DeleteFunc(slices.Clone(f.strategies), func(name string) bool { return name == "none" })}
}

// next checks the written files and prints the next steps.
func (f *initFlags) next(command *cobra.Command, directory string) error {
	w := command.ErrOrStderr()
	checked := connect.Options(command.Context(), "")
	if f.keyFile == "" {
		checked.CredentialsDirectory = "credentials" // systemd's directory, which exists when it starts botd
	}
	_, problems := configs.LoadDirectory(directory, checked)
	for _, p := range problems {
		fmt.Fprintln(w, p.String())
	}
	if problems.Errors() > 0 {
		return failure.New(failure.Negative, "fix them, then: botd check -c "+directory, "written, with %s", plural.Of(problems.Errors(), "mistake"))
	}
	fmt.Fprintf(w, "\nnext:\n  botd check -c %s\n  botd doctor -c %s\n", directory, directory)
	switch configs.Mode(f.mode) {
	case configs.Live:
		fmt.Fprintf(w, "  botd probe --base-url %s      # signature and settle times of the venue\n  botd run -c %s --mode paper   # a "+
			"simulated account first\n  botd run -c %s --mode live\n", f.baseURL, directory, directory)
	default:
		fmt.Fprintf(w, "  botd run -c %s\n", directory)
	}
	return nil
}
