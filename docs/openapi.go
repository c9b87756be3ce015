// Package docs the documents that botd serves.
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

// OpenAPI returns openapi.yaml, which describes the simulated exchange, as JSON.
var OpenAPI = sync.OnceValues(func() ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(openapi, &document); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return json.Marshal(document)
})
