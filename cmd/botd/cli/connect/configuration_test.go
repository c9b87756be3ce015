package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/internal/failure"
	"botd/strategy"
)

// TestTheConfigurationIsFoundFromAnotherDirectory runs in a directory without ./configs, as a person who was
// woken up does.
func TestTheConfigurationIsFoundFromAnotherDirectory(t *testing.T) {
	service := t.TempDir()
	if err := os.WriteFile(filepath.Join(service, "botd.yaml"), []byte("mode: demo\ninstance: night\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv(ConfigVariable, service)
	config, problems, err := Load(t.Context(), "", "")
	if err != nil || problems.Err() != nil || config.Instance != "night" {
		t.Fatalf("want the service's configuration, have %+v, %v, %v", config, problems, err)
	}
	if err := os.MkdirAll("configs", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("configs", "botd.yaml"), []byte("mode: demo\ninstance: here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if config, _, err := Load(t.Context(), "", ""); err != nil || config.Instance != "here" {
		t.Errorf("want ./configs first, have %+v, %v", config, err)
	}
}

// hold is a strategy of the library that buys and holds.
const hold = "strategy: buy_and_hold\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1m\nsize: {quantity: 0.5}\n"

func TestADirectoryOfAConfiguration(t *testing.T) {
	empty, valid := t.TempDir(), t.TempDir()
	write(t, filepath.Join(valid, "botd.yaml"), "mode: demo\ninstance: here\ndata_dir: /somewhere\nlisten: 127.0.0.1:7\nexchange: {base_url: https://x}\n")
	write(t, filepath.Join(valid, "strategies", "b.yaml"), "name: b\n"+hold)
	t.Chdir(empty)
	t.Setenv(ConfigVariable, filepath.Join(empty, "missing"))
	if config, problems, err := Load(t.Context(), "", ""); err != nil || problems.Err() != nil || len(config.Strategies) == 0 {
		t.Errorf("want the built-in examples, have %+v, %v, %v", config, problems, err)
	}
	if where, err := Paths(""); err != nil || where != configs.Locate(configs.Examples()) {
		t.Errorf("want the place of the built-in examples, have %+v, %v", where, err)
	}
	if where, err := Paths(valid); err != nil || where != (configs.Location{Mode: "demo", DataDir: "/somewhere", Listen: "127.0.0.1:7"}) {
		t.Errorf("want the place of the configuration, have %+v, %v", where, err)
	}
	t.Setenv(ConfigVariable, empty)
	config, err := LoadValid(t.Context(), valid)
	if err != nil || config.Instance != "here" || len(config.Strategies) != 1 || config.Mode != configs.Demo {
		t.Fatalf("want the directory of -c before that of the environment, have %+v, %v", config, err)
	}
	if config, err := LoadSettings(t.Context(), valid, configs.Paper, "hint"); err != nil || config.Mode != configs.Paper {
		t.Errorf("want mode paper, have %+v, %v", config, err)
	}
	for _, c := range []struct{ directory, want string }{
		{filepath.Join(empty, "missing"), "read configuration: stat " + filepath.Join(empty, "missing") +
			": no such file or directory\nhint: -c names a directory with botd.yaml and strategies/*.yaml"},
		{filepath.Join(valid, "botd.yaml"), filepath.Join(valid, "botd.yaml") + " is not a directory\nhint: -c names the directory, not a file in it"},
	} {
		_, paths := Paths(c.directory)
		_, load := LoadValid(t.Context(), c.directory)
		_, settings := LoadSettings(t.Context(), c.directory, "", "hint")
		for _, err := range []error{paths, load, settings} {
			if err == nil || err.Error() != c.want || failure.CodeOf(err) != 66 {
				t.Errorf("want exit code 66 and %q, have %v", c.want, err)
			}
		}
	}
}

// TestAConfigurationThatMustBeValid uses a file with a mistake in its third line.
func TestAConfigurationThatMustBeValid(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, filepath.Join(directory, "botd.yaml"), "mode: demo\n")
	write(t, filepath.Join(directory, "strategies", "a.yaml"), "name: a\nstrategy: buy_and_hold\nmarkett: spot\n")
	_, valid := LoadValid(t.Context(), directory)
	_, settings := LoadSettings(t.Context(), directory, "", "name the file")
	for hint, err := range map[string]error{"hint: botd check shows all of it": valid, "hint: name the file": settings} {
		if err == nil || failure.CodeOf(err) != 78 || !strings.Contains(err.Error(), "a.yaml:3") || !strings.HasSuffix(err.Error(), hint) {
			t.Errorf("want exit code 78, the line and %q, have %v", hint, err)
		}
	}
}

func TestCompletionOffersTheConfiguredStrategies(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(ConfigVariable, "")
	valid := t.TempDir()
	write(t, filepath.Join(valid, "botd.yaml"), "mode: demo\n")
	write(t, filepath.Join(valid, "strategies", "b.yaml"), "name: bb\n"+hold)
	for _, c := range []struct{ directory, want string }{
		{valid, "bb\tbuy_and_hold on ETH-USDT"},
		{filepath.Join(valid, "missing"), ""},
		{"", "accumulate\ttwap on BTC-USDT"},
	} {
		var directory string
		command := &cobra.Command{Use: "x"}
		ConfigFlag(command, &directory)
		if err := command.ParseFlags([]string{"-c", c.directory}); err != nil || directory != c.directory {
			t.Fatalf("want -c, have %q, %v", directory, err)
		}
		command.SetContext(t.Context())
		have, directive := CompleteStrategies(command, nil, "")
		if directive != cobra.ShellCompDirectiveNoFileComp || strings.Join(append(have, "")[:1], "") != c.want || len(have) > 0 != (c.want != "") {
			t.Errorf("-c %q: want %q and no files, have %q, %d", c.directory, c.want, have, directive)
		}
	}
	plain := &cobra.Command{Use: "x"}
	plain.SetContext(t.Context())
	if have, _ := CompleteStrategies(plain, nil, ""); len(have) == 0 {
		t.Error("want the built-in examples for a command without -c")
	}
}

// TestWhatAProgramKnows covers strategies of its own in addition to the library, rules, scripts and programs.
func TestWhatAProgramKnows(t *testing.T) {
	t.Parallel()
	own := strategy.Definition{Name: "mine", Summary: "Is mine."}
	ctx := WithStrategies(t.Context(), []strategy.Definition{own})
	tolerate, _ := Tolerate(WithProcesses(ctx))
	for name, registry := range map[string]*strategy.Registry{"Registry": Registry(ctx), "Isolate": Isolate(WithProcesses(ctx), Options(ctx, "")).Registry,
		"Tolerate": tolerate(Options(ctx, "")).Registry, "neither": Isolate(ctx, Options(ctx, "")).Registry} {
		for _, known := range []string{"mine", "buy_and_hold", "rules", "script", "process"} {
			if _, found := registry.Find(known); !found {
				t.Errorf("%s: want %s known", name, known)
			}
		}
	}
	if _, found := Registry(t.Context()).Find("mine"); found {
		t.Error("want a program's own strategies in its own context alone")
	}
	if Restartable(ctx) || !Restartable(WithProcesses(ctx)) {
		t.Error("want a program that can start itself again only where it declares that")
	}
	in, out := Options(ctx, configs.Paper), Options(WithProcesses(ctx), configs.Live)
	if in.Process != nil || in.Mode != configs.Paper || in.Script == nil || len(in.Symbols) == 0 || out.Process == nil || out.Mode != configs.Live {
		t.Errorf("want programs started only where this one can start itself again, have %+v, %+v", in, out)
	}
	tolerate, loaded := Tolerate(ctx)
	if same := tolerate(in); loaded != nil || same.Process != nil || same.Registry != in.Registry {
		t.Errorf("want the options as they were, have %+v", same)
	}
	if isolated := Isolate(WithProcesses(ctx), in); isolated.Process != nil || isolated.Mode != configs.Paper || isolated.Registry == in.Registry {
		t.Errorf("want the rules alone elsewhere, have %+v", isolated)
	}
}

// TestAProgramThatDoesNotAnswerAtAStart uses a program that ends at once: its strategy is a substitute at a start, and an error at a check.
func TestAProgramThatDoesNotAnswerAtAStart(t *testing.T) {
	t.Parallel()
	ctx := WithProcesses(t.Context())
	tolerate, _ := Tolerate(ctx)
	if definition, err := tolerate(Options(ctx, "")).Process([]string{"/nowhere/program"}, t.TempDir()); err != nil || !definition.Silent {
		t.Errorf("want a substitute, have %+v, %v", definition, err)
	}
	if definition, err := Isolate(ctx, Options(ctx, "")).Process([]string{"/nowhere/program"}, t.TempDir()); err == nil {
		t.Errorf("want an error, have %+v", definition)
	}
	directory := t.TempDir()
	write(t, filepath.Join(directory, "botd.yaml"), "mode: demo\n")
	write(t, filepath.Join(directory, "strategies", "a.yaml"),
		"name: a\nstrategy: process\ncommand: [/nowhere/program]\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1m\nsize: {quantity: 0.5}\n")
	if config, err := LoadSettings(ctx, directory, "", "hint"); err != nil || len(config.Strategies) != 1 {
		t.Errorf("want settings without the program, have %+v, %v", config, err)
	}
	if _, err := LoadValid(ctx, directory); failure.CodeOf(err) != 78 {
		t.Errorf("want exit code 78 where the program is needed, have %v", err)
	}
}

func TestAScriptIsCompiled(t *testing.T) {
	t.Parallel()
	good := &strategy.Source{File: "my.star", Text: []byte("fast = param(\"fast\", 12, min = 1)\n\ndef decide(view):\n    return hold(\"long\")\n")}
	if definition, err := Compiled(good); err != nil || len(definition.Parameters) != 1 || definition.Parameters[0].Name != "fast" {
		t.Errorf("want the parameter fast, have %+v, %v", definition, err)
	}
	wrong := &strategy.Source{File: "my.star", Text: []byte("\nx = = 1\n")}
	if definition, err := Compiled(wrong); err == nil || !strings.Contains(err.Error(), "my.star:2") || definition.New != nil {
		t.Errorf("want the line of the mistake, have %+v, %v", definition, err)
	}
}

func TestColumnsAreReadFromTheirFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sentiment.csv")
	write(t, file, "time_ms,mood\n1767225600000,1.5\n1767225660000,2\n")
	columns, err := Options(t.Context(), "").LoadColumns([]string{file})
	if err != nil || columns == nil {
		t.Errorf("want the column, have %v, %v", columns, err)
	}
	if _, err := Options(t.Context(), "").LoadColumns([]string{file + ".missing"}); err == nil {
		t.Error("want an error for a missing file")
	}
}
