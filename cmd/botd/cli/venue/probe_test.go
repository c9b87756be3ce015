package venue

import (
	"strings"
	"testing"

	"botd/exchange/probe"
)

// Without it a venue whose address has a path refuses every request.
func TestPrintedProfileHasPathRule(t *testing.T) {
	t.Parallel()
	for paths, want := range map[string]bool{"route": true, "full": false} {
		var b strings.Builder
		probeTable(&b, &probe.Report{BaseURL: "https://venue.example/api", Signature: &probe.Signature{Payload: "{path}", Encoding: "hex", Paths: paths}})
		if have := strings.Contains(b.String(), "  profile: {paths: {sign: route}}\n"); have != want {
			t.Errorf("%s: want the path rule printed %v, have\n%s", paths, want, b.String())
		}
	}
}
