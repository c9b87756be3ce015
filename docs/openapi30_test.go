package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestOpenAPI30OmitsNewerConstructs searches for constructs that generators for 3.0 reject.
func TestOpenAPI30OmitsNewerConstructs(t *testing.T) {
	t.Parallel()
	content, err := OpenAPI30()
	if err != nil {
		t.Fatal(err)
	}
	if file, err := os.ReadFile("openapi-3.0.json"); err != nil || !bytes.Equal(file, content) {
		t.Errorf("docs/openapi-3.0.json is not what botd exchange serves as /openapi-3.0.json: save that there, %v", err)
	}
	var document map[string]any
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	if document["openapi"] != "3.0.3" {
		t.Errorf("want 3.0.3, have %v", document["openapi"])
	}
	operations := 0
	for _, path := range document["paths"].(map[string]any) {
		operations += len(path.(map[string]any))
	}
	if operations < 35 {
		t.Errorf("want 35 operations at least, have %d", operations)
	}
	wantOlder(t, "", document)
}

func wantOlder(t *testing.T, where string, node any) {
	t.Helper()
	switch n := node.(type) {
	case []any:
		for i, each := range n {
			wantOlder(t, fmt.Sprint(where, "/", i), each)
		}
	case map[string]any:
		for _, word := range []string{"const", "prefixItems", "identifier"} {
			if _, found := n[word]; found {
				t.Errorf("%s has %s", where, word)
			}
		}
		if n["type"] == "number" && n["format"] != "double" {
			t.Errorf("%s is a number of unknown precision", where)
		}
		if _, several := n["type"].([]any); several {
			t.Errorf("%s has several types", where)
		}
		if items, found := n["items"]; n["type"] == "array" && (!found || items == false) {
			t.Errorf("%s is an array without items", where)
		}
		if _, found := n["$ref"]; found && len(n) > 1 {
			t.Errorf("%s has something beside its reference", where)
		}
		for name, each := range n {
			wantOlder(t, where+"/"+name, each)
		}
	}
}
