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

// TestEveryKeyHasItsMeaningAndAnExampleThatIsRead puts each example of the
// reference into a configuration, in every mode the key counts in.
func TestEveryKeyHasItsMeaningAndAnExampleThatIsRead(t *testing.T) {
	t.Parallel()
	root, file := configs.Keys()
	for _, k := range root {
		if k.Kind == configs.KindBlock {
			continue
		}
		wantNote(t, k)
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
			wantRead(t, k, text, plainStrategy, mode)
		}
	}
	for _, k := range file {
		if k.Kind == configs.KindBlock && k.Path != "params" || strings.HasPrefix(k.Path, "file") || k.Path == "command" { // they need a file
			continue
		}
		wantNote(t, k)
		var rest []string
		name, _, _ := strings.Cut(k.Path, ".")
		plain := plainStrategy
		if k.Path == "catch_up" { // of strategies that trade in slices
			plain = strings.NewReplacer("sma_cross", "dca", "size: {quantity: 0.01}", "params: {amount: 100}").Replace(plain)
		}
		for _, line := range strings.Split(plain, "\n") {
			if key, _, _ := strings.Cut(line, ":"); key != name {
				rest = append(rest, line)
			}
		}
		wantRead(t, k, "mode: demo", strings.Join(append(rest, nested(k)), "\n"), configs.Demo)
	}
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

// nested is a key's example with the blocks around it.
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
	if len(parts) == 3 { // what stands beside it is indented by two
		return parts[0] + ":\n  " + parts[1] + ": {" + parts[2] + ": " + k.Example + "}"
	}
	return text + " " + k.Example
}

func wantRead(t *testing.T, k configs.Key, root, file string, mode configs.Mode) {
	t.Helper()
	files := fstest.MapFS{"botd.yaml": {Data: []byte(root + "\n")}, "strategies/one.yaml": {Data: []byte(file + "\n")},
		"venue.yaml": {Data: []byte("null_lists: empty\n")}}
	registry := strategy.NewRegistry(append(library.All(), script.Rules(), script.Files())...)
	_, problems := configs.Load(files, "", configs.Options{Registry: registry, Mode: mode})
	if problems.Errors() > 0 || len(problems) > 0 && k.Path != "journal" { // that one is read, and warned of
		t.Errorf("%s, mode %s: want its example read without a word, have\n%v\n%s\n%s", k.Path, mode, problems, root, file)
	}
}
