package docs

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The contents name every document once.
func TestTheContentsAreThoseOfTheSite(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../deploy/site/mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	var site struct{ Nav []any }
	if err := yaml.Unmarshal(text, &site); err != nil {
		t.Fatal(err)
	}
	var want []Section
	for _, entry := range site.Nav {
		if page, single := entry.(string); single {
			want = append(want, Section{"", []string{strings.TrimSuffix(page, ".md")}})
			continue
		}
		for name, pages := range entry.(map[string]any) {
			section := Section{Name: name}
			for _, page := range pages.([]any) {
				section.Pages = append(section.Pages, strings.TrimSuffix(page.(string), ".md"))
			}
			want = append(want, section)
		}
	}
	same := func(a, b Section) bool { return a.Name == b.Name && slices.Equal(a.Pages, b.Pages) }
	if have := Contents(); !slices.EqualFunc(have, want, same) {
		t.Errorf("want the contents of deploy/site/mkdocs.yml, %v, have %v", want, have)
	}
	names, err := fs.Glob(Files(), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, section := range Contents() {
		for _, page := range section.Pages {
			listed = append(listed, page+".md")
		}
	}
	slices.Sort(listed)
	if !slices.Equal(listed, names) {
		t.Errorf("want every document listed once: %v, have %v", names, listed)
	}
}
