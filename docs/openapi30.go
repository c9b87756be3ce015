package docs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// OpenAPI30 returns openapi.yaml as OpenAPI 3.0, for generators that do not read 3.1.
var OpenAPI30 = sync.OnceValues(func() ([]byte, error) {
	content, err := OpenAPI()
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	older(document)
	document["openapi"] = "3.0.3"
	if info, ok := document["info"].(map[string]any); ok {
		if license, ok := info["license"].(map[string]any); ok {
			delete(license, "identifier") // 3.0 has none
		}
	}
	content, err = json.MarshalIndent(document, "", " ")
	return append(content, '\n'), err
})

// older rewrites the constructs that 3.0 expresses differently: tuples, several types, constants, and the siblings of a reference.
func older(node any) {
	switch n := node.(type) {
	case []any:
		for _, each := range n {
			older(each)
		}
	case map[string]any:
		for _, each := range n {
			older(each)
		}
		olderSchema(n)
	}
}

func olderSchema(n map[string]any) {
	if reference, found := n["$ref"]; found {
		clear(n)
		n["$ref"] = reference
		return
	}
	if types, several := n["type"].([]any); several {
		var all []any
		for _, each := range types {
			one := map[string]any{"type": each}
			olderSchema(one)
			all = append(all, one)
		}
		delete(n, "type")
		n["oneOf"] = all
	}
	if value, found := n["const"]; found {
		delete(n, "const")
		n["enum"] = []any{value}
		if _, typed := n["type"]; !typed {
			n["type"] = map[bool]string{true: "string", false: "integer"}[reflect.TypeOf(value).Kind() == reflect.String]
		}
	}
	if values, kind := constants(n["oneOf"]); len(values) > 0 { // generators would turn their titles into type names
		delete(n, "oneOf")
		n["type"], n["enum"] = kind, values
	}
	if members, found := n["prefixItems"].([]any); found {
		delete(n, "prefixItems")
		n["items"], n["minItems"], n["maxItems"] = oneOf(members), len(members), len(members)
	}
	if _, found := n["format"]; n["type"] == "number" && !found {
		n["format"] = "double" // without a format, generators use 32-bit floats, which lose digits
	}
	if _, found := n["items"]; n["type"] == "array" && !found {
		n["items"] = map[string]any{}
	}
}

// constants returns the values of alternatives that are all constants of one type.
func constants(alternatives any) (values []any, kind any) {
	members, _ := alternatives.([]any)
	for _, each := range members {
		member, _ := each.(map[string]any)
		enum, _ := member["enum"].([]any)
		if len(enum) != 1 || kind != nil && member["type"] != kind {
			return nil, nil
		}
		values, kind = append(values, enum[0]), member["type"]
	}
	return values, kind
}

// oneOf returns a schema that accepts any of several schemas, without duplicates.
func oneOf(members []any) any {
	var different []any
	for _, member := range members {
		known := false
		for _, each := range different {
			known = known || reflect.DeepEqual(each, member)
		}
		if !known {
			different = append(different, member)
		}
	}
	if len(different) == 1 {
		return different[0]
	}
	return map[string]any{"oneOf": different}
}
