package mutation

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// equivalents returns the mutants without an observable effect, by their names, each with the reason.
func equivalents() (map[string]string, error) {
	reasons := map[string]string{}
	name := ""
	for line := range strings.Lines(equivalentText) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			if name == "" {
				return nil, fmt.Errorf("equivalent.txt: the reason %q has no mutant", text)
			}
			reasons[name] = strings.TrimSpace(reasons[name] + " " + text)
		default:
			if _, twice := reasons[text]; twice {
				return nil, fmt.Errorf("equivalent.txt: %q stands there twice", text)
			}
			name, reasons[text] = text, ""
		}
	}
	return reasons, nil
}
