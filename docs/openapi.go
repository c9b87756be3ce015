// Package docs embeds the documents that botd serves.
package docs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed openapi.yaml
var openapi []byte

//go:embed api.yaml
var api []byte

// OpenAPI returns openapi.yaml, which describes the simulated exchange, as JSON.
var OpenAPI = sync.OnceValues(func() ([]byte, error) { return asJSON("openapi.yaml", openapi) })

// API returns api.yaml, which describes the admin API, as JSON.
var API = sync.OnceValues(func() ([]byte, error) { return asJSON("api.yaml", api) })

func asJSON(name string, text []byte) ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return json.Marshal(document)
}
