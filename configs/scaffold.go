package configs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Scaffold describes a new configuration, which is made of the built-in examples.
type Scaffold struct {
	Mode                                           Mode
	Instance, Listen, BaseURL, KeyFile, SecretFile string   // an empty Listen keeps that of the example
	Strategies                                     []string // of ExampleNames
}

// InstanceNamed reports whether a text can name an instance.
func InstanceNamed(text string) bool { return instanceName.MatchString(text) }

// ExampleNames returns the strategies of the built-in configuration.
func ExampleNames() (names []string) {
	paths, _ := fs.Glob(Examples(), "strategies/*.yaml") // the only possible error is a bad pattern
	for _, file := range paths {
		names = append(names, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	return names
}

var (
	exampleMode     = regexp.MustCompile(`(?m)^mode: demo .*$`)
	exampleInstance = regexp.MustCompile(`(?m)^instance: main`)
	exampleListen   = regexp.MustCompile(`(?m)^listen: 127\.0\.0\.1:8420( # .*); open http://.*$`)
	exampleExchange = regexp.MustCompile(`(?m)^# exchange: .*\n(#   .*\n)*`)
)

// Files returns the texts of the files by their name, derived from the built-in examples, which are tested.
func (s *Scaffold) Files() (map[string]string, error) {
	text, err := fs.ReadFile(Examples(), "botd.yaml")
	if err != nil {
		return nil, err
	}
	root := exampleMode.ReplaceAllLiteralString(string(text), map[Mode]string{
		Demo:  "mode: demo # a simulated exchange inside botd, no network, no keys. Also: paper, live",
		Paper: "mode: paper # a simulated account on the venue's prices, no keys. Also: demo, live",
		Live:  "mode: live # real money; it must also be set by botd run --mode live. Also: demo, paper"}[s.Mode])
	root = exampleInstance.ReplaceAllLiteralString(root, "instance: "+s.Instance)
	if s.Listen != "" {
		root = exampleListen.ReplaceAllString(root, strings.ReplaceAll(fmt.Sprintf("listen: %q", s.Listen), "$", "$$")+"$1")
	}
	if s.Mode != Demo {
		root = exampleExchange.ReplaceAllLiteralString(root, s.exchange())
	}
	files := map[string]string{"botd.yaml": root}
	for _, name := range s.Strategies {
		file := "strategies/" + name + ".yaml"
		text, err := fs.ReadFile(Examples(), file)
		if err != nil {
			return nil, err
		}
		files[file] = string(text)
	}
	return files, nil
}

func (s *Scaffold) exchange() string {
	text := fmt.Sprintf("exchange:\n  base_url: %q\n", s.BaseURL)
	if s.Mode != Live {
		return text
	}
	if s.KeyFile == "" {
		text += "  # the key comes as systemd credentials BOTD_KEY and BOTD_SECRET; or name files of mode 600:\n  # key_file: " +
			"/etc/botd/key\n  # secret_file: /etc/botd/secret\n"
	} else {
		text += fmt.Sprintf("  key_file: %q # files of mode 600; secrets never belong in YAML\n  secret_file: %q\n", s.KeyFile, s.SecretFile)
	}
	return text + "  # signature: {payload: \"{timestamp}{method}{path}{body}\", encoding: hex}    # botd probe finds out\n  settle: " +
		"{window: 60s, visibility: 45s, staleness: 15s}    # cautious; botd probe --trade --out FILE measures, for profile: FILE\n"
}
