// Package connect finds the configuration and the daemon that a command addresses.
package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/runtime/worker/isolated"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

// strategiesKey is the context key of a program's own strategies.
type strategiesKey struct{}

// WithStrategies returns a context whose commands know these strategies besides the built-in ones.
func WithStrategies(ctx context.Context, own []strategy.Definition) context.Context {
	return context.WithValue(ctx, strategiesKey{}, own)
}

// processesKey is the context key of the isolated.Processes that runs strategies in separate processes.
type processesKey struct{}

// WithProcesses returns a context whose commands can run strategies in separate processes, because this program can start itself again.
func WithProcesses(ctx context.Context) context.Context {
	return context.WithValue(ctx, processesKey{}, &isolated.Processes{})
}

// Restartable reports whether this program can start itself again.
func Restartable(ctx context.Context) bool {
	_, able := ctx.Value(processesKey{}).(*isolated.Processes)
	return able
}

// Isolate returns options that run no script in this process if the context can run processes. The daemon reads its configuration with them.
func Isolate(ctx context.Context, options configs.Options) configs.Options {
	processes, able := ctx.Value(processesKey{}).(*isolated.Processes)
	if !able {
		return options
	}
	options.Script = processes.Script
	options.Registry = registry(ctx, processes.Rules())
	return options
}

// Tolerate returns Isolate for a start, which creates every strategy: one whose process does not describe its needs has a substitute. The channel
// holds a value when a process that the start did not wait for has answered: the same function then returns its strategy.
func Tolerate(ctx context.Context) (tolerate func(configs.Options) configs.Options, loaded <-chan struct{}) {
	processes, able := ctx.Value(processesKey{}).(*isolated.Processes)
	if !able {
		return func(options configs.Options) configs.Options { return options }, nil
	}
	loading := isolated.NewLoading()
	rules, _ := loading.Definition("rules", func() (strategy.Definition, error) { return processes.Rules(), nil }) // known at once
	return func(options configs.Options) configs.Options {
		options.Script = func(text *strategy.Source) (strategy.Definition, error) {
			return loading.Definition("script "+text.File+" "+text.SHA256(), func() (strategy.Definition, error) { return processes.Script(text) })
		}
		options.Process = func(command []string, directory string) (strategy.Definition, error) {
			return loading.Definition(fmt.Sprintf("process %q in %q", command, directory),
				func() (strategy.Definition, error) { return isolated.Program(command, directory) })
		}
		options.Registry = registry(ctx, rules)
		return options
	}, loading.Ended
}

// Registry returns every strategy that this program knows.
func Registry(ctx context.Context) *strategy.Registry {
	return registry(ctx, script.Rules())
}

func registry(ctx context.Context, rules strategy.Definition) *strategy.Registry {
	own, _ := ctx.Value(strategiesKey{}).([]strategy.Definition)
	return strategy.NewRegistry(slices.Concat(library.All(), []strategy.Definition{rules, script.Files(), isolated.Programs()}, own)...)
}

// Compiled returns the strategy that a `strategy: script` block runs.
func Compiled(source *strategy.Source) (strategy.Definition, error) {
	s, err := script.Compile(source.File, source.Text, source.Libraries...)
	if err != nil {
		return strategy.Definition{}, err
	}
	return s.Definition(), nil
}

// Options returns the options for checking a configuration. The demo uses the instruments of the built-in
// market; other modes read those of the venue at start.
func Options(ctx context.Context, mode configs.Mode) configs.Options {
	options := configs.Options{Registry: Registry(ctx), Script: Compiled, Symbols: sim.DefaultSymbols(), Mode: mode, LoadColumns: loadColumns,
		CredentialsDirectory: os.Getenv("CREDENTIALS_DIRECTORY")}
	if Restartable(ctx) {
		options.Process = isolated.Program
	}
	return options
}

// loadColumns opens external series, which are read again when they grow.
func loadColumns(files []string) (strategy.Columns, error) { return tape.LoadColumns(files, true) }

// Load reads a configuration: the directory given, else ./configs, else that of the service, else the
// embedded examples.
func Load(ctx context.Context, directory string, mode configs.Mode) (*configs.Config, configs.Problems, error) {
	return LoadWith(Options(ctx, mode), installed(directory))
}

// ConfigVariable names the configuration directory where there is none in the working directory.
const ConfigVariable = "BOTD_CONFIG"

// serviceDirectory is the configuration directory of the unit that botd ops unit writes.
const serviceDirectory = "/etc/botd"

// installed returns the directory to read. Without a directory and without ./configs it is the one that BOTD_CONFIG names or that
// of the service, so that an operator can stop botd from any working directory. botd run does not use it.
func installed(directory string) string {
	if directory != "" || exists(filepath.Join("configs", "botd.yaml")) {
		return directory
	}
	for _, one := range []string{os.Getenv(ConfigVariable), serviceDirectory} {
		if one != "" && exists(filepath.Join(one, "botd.yaml")) {
			return one
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// LoadWith is Load with the given options.
func LoadWith(options configs.Options, directory string) (*configs.Config, configs.Problems, error) {
	directory, err := folder(directory)
	if err != nil {
		return nil, nil, err
	}
	if directory == "" {
		config, problems := configs.Load(configs.Examples(), "(built-in examples)", options)
		return config, problems, nil
	}
	config, problems := configs.LoadDirectory(directory, options)
	return config, problems, nil
}

// folder returns the directory a configuration is read from, empty for the embedded examples.
func folder(directory string) (string, error) {
	if directory == "" {
		if _, err := os.Stat(filepath.Join("configs", "botd.yaml")); errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		directory = "configs"
	}
	info, err := os.Stat(directory)
	if err != nil {
		return "", failure.New(failure.NoInput, "-c names a directory with botd.yaml and strategies/*.yaml", "read configuration: %w", err)
	}
	if !info.IsDir() {
		return "", failure.New(failure.NoInput, "-c names the directory, not a file in it", "%s is not a directory", directory)
	}
	return directory, nil
}

// CompleteStrategies offers the names of the configured strategies.
func CompleteStrategies(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	directory := ""
	if f := command.Flags().Lookup("config"); f != nil {
		directory = f.Value.String()
	}
	config, _, err := loadWithoutPrograms(command.Context(), directory, "")
	if err != nil || config == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for i := range config.Strategies {
		names = append(names, config.Strategies[i].Name+"\t"+config.Strategies[i].Kind+" on "+config.Strategies[i].Symbol)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// ConfigFlag adds -c to a command.
func ConfigFlag(command *cobra.Command, directory *string) {
	command.Flags().StringVarP(directory, "config", "c", "", "configuration directory (default ./configs, else the built-in examples)")
}

// CheckHint is the hint of a command that requires its configuration.
const CheckHint = "botd check shows all of it"

// LoadValid reads a configuration that must be valid, for a command that runs its strategies or shows their parameters.
func LoadValid(ctx context.Context, directory string) (*configs.Config, error) {
	return Checked(CheckHint, func() (*configs.Config, configs.Problems, error) { return Load(ctx, directory, "") })
}

// LoadSettings reads a configuration for a mode (empty for its own), which must be valid, for a command that runs no strategy:
// it starts no strategy's program. The hint names the way to run the command without a configuration.
func LoadSettings(ctx context.Context, directory string, mode configs.Mode, hint string) (*configs.Config, error) {
	return Checked(hint, func() (*configs.Config, configs.Problems, error) { return loadWithoutPrograms(ctx, directory, mode) })
}

// loadWithoutPrograms is Load without the parameters of strategies that are programs: only the program knows them.
func loadWithoutPrograms(ctx context.Context, directory string, mode configs.Mode) (*configs.Config, configs.Problems, error) {
	options := Options(ctx, mode)
	options.Process = nil
	return LoadWith(options, installed(directory))
}

// Checked reads a configuration, which must be valid.
func Checked(hint string, read func() (*configs.Config, configs.Problems, error)) (*configs.Config, error) {
	config, problems, err := read()
	if err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, failure.New(failure.Config, hint, "%s", problems.String())
	}
	return config, nil
}
