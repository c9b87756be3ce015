package configs

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestAScaffoldLoads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scaffold Scaffold
		want     []string
	}{
		{Scaffold{Mode: Demo, Instance: "main", Strategies: ExampleNames()}, []string{"mode: demo", "instance: main"}},
		{Scaffold{Mode: Paper, Instance: "second", Listen: "127.0.0.1:9000", BaseURL: "https://venue.example"},
			[]string{"mode: paper", "instance: second", `listen: "127.0.0.1:9000"`, `base_url: "https://venue.example"`}},
	} {
		texts, err := c.scaffold.Files()
		if err != nil || len(texts) != 1+len(c.scaffold.Strategies) {
			t.Fatalf("want botd.yaml and %d strategies, have %d files, %v", len(c.scaffold.Strategies), len(texts), err)
		}
		files := fstest.MapFS{}
		for name, text := range texts {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if at := Locate(files); at.Mode != c.scaffold.Mode {
			t.Errorf("want mode %s, have %+v", c.scaffold.Mode, at)
		}
		for _, line := range c.want {
			if root := texts["botd.yaml"]; !strings.Contains("\n"+root, "\n"+line) && !strings.Contains(root, "\n  "+line) {
				t.Errorf("want %q in\n%s", line, root)
			}
		}
	}
	if !InstanceNamed("main") || InstanceNamed("Main") || InstanceNamed("") {
		t.Error("want 1 to 10 of a-z and 0-9")
	}
}
