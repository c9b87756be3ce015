package configs_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"botd/configs"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

// TestEveryKeyHasItsMeaningAndAnExampleThatIsRead puts each example of the reference into a configuration, in
// every mode in which the key counts.
func TestEveryKeyHasItsMeaningAndAnExampleThatIsRead(t *testing.T) {
	t.Parallel()
	for _, one := range examples() {
		wantNote(t, one.Key)
		problems := one.read()
		if problems.Errors() > 0 || len(problems) > 0 && one.Path != "journal" { // that one is accepted with a warning
			t.Errorf("%s, mode %s: want its example read without a word, have\n%v\n%s\n%s", one.Path, one.mode, problems, one.root, one.file)
		}
	}
}

// example is a key's example with the configuration around it.
type example struct {
	configs.Key
	mode       configs.Mode
	root, file string // botd.yaml, and a strategy's file
}

// examples returns each key's example, in every mode in which the key counts.
func examples() (all []example) {
	root, file := configs.Keys()
	for _, k := range root {
		if k.Kind == configs.KindBlock {
			continue
		}
		for _, mode := range []configs.Mode{configs.Demo, configs.Paper, configs.Live} {
			if k.Modes != "" && !strings.Contains(k.Modes, string(mode)) {
				continue
			}
			exchange := "base_url: https://venue.example, key_file: /etc/botd/key, secret_file: /etc/botd/secret"
			text := nested(k)
			switch {
			case k.Path == "mode":
				text += "\nexchange: {" + exchange + "}"
			case strings.HasPrefix(k.Path, "exchange."):
				for _, other := range strings.Split(exchange, ", ") {
					if name, _, _ := strings.Cut(other, ":"); k.Path != "exchange."+name {
						text += "\n  " + other
					}
				}
				text += "\nmode: " + string(mode)
			default:
				text += "\nmode: " + string(mode) + "\nexchange: {" + exchange + "}"
			}
			all = append(all, example{k, mode, text, plainStrategy})
		}
	}
	for _, k := range file {
		if k.Kind == configs.KindBlock && k.Path != "params" || strings.HasPrefix(k.Path, "file") || k.Path == "command" { // they need a file
			continue
		}
		var rest []string
		name, _, _ := strings.Cut(k.Path, ".")
		plain := plainStrategy
		if k.Path == "catch_up" { // for strategies that trade in slices
			plain = strings.NewReplacer("sma_cross", "dca", "size: {quantity: 0.01}", "params: {amount: 100}").Replace(plain)
		}
		for _, line := range strings.Split(plain, "\n") {
			if key, _, _ := strings.Cut(line, ":"); key != name {
				rest = append(rest, line)
			}
		}
		all = append(all, example{k, configs.Demo, "mode: demo", strings.Join(append(rest, nested(k)), "\n")})
	}
	return all
}

// read reads the configuration, and returns its problems.
func (e example) read() configs.Problems {
	files := fstest.MapFS{"botd.yaml": {Data: []byte(e.root + "\n")}, "strategies/one.yaml": {Data: []byte(e.file + "\n")},
		"venue.yaml": {Data: []byte("null_lists: empty\n")}}
	registry := strategy.NewRegistry(append(library.All(), script.Rules(), script.Files())...)
	_, problems := configs.Load(files, "", configs.Options{Registry: registry, Mode: e.mode})
	return problems
}

const plainStrategy = "name: one\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nschedule: \"@every 5s\"\nsize: {quantity: 0.01}"

func wantNote(t *testing.T, k configs.Key) {
	t.Helper()
	if k.What == "" || k.Example == "" {
		t.Errorf("%s: want a meaning and an example in its row, have %q and %q", k.Path, k.What, k.Example)
	}
	if (k.Kind == configs.KindWhole || k.Kind == configs.KindNumber) && k.Unit == "" {
		t.Errorf("%s: want the unit of the %s", k.Path, k.Kind)
	}
}

// nested returns a key's example with the blocks around it.
func nested(k configs.Key) string {
	if strings.Contains(k.Example, ": ") && !strings.HasPrefix(k.Example, "{") {
		return k.Example
	}
	text, parts := "", strings.Split(k.Path, ".")
	for i, part := range parts {
		text += strings.Repeat("  ", i) + part + ":"
		if i < len(parts)-1 {
			text += "\n"
		}
	}
	if len(parts) == 3 { // its neighbors are indented by two
		return parts[0] + ":\n  " + parts[1] + ": {" + parts[2] + ": " + k.Example + "}"
	}
	return text + " " + k.Example
}
