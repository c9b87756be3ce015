package configs

import (
	"slices"
	"strings"

	"botd/strategy"
)

// Key is one key of botd.yaml or of a strategy's file.
type Key struct {
	Path     string   `json:"key"` // exchange.settle.window
	Kind     string   `json:"kind"`
	Words    []string `json:"values,omitempty"` // of a choice
	Low      string   `json:"low,omitempty"`    // inclusive bounds; empty for none
	High     string   `json:"high,omitempty"`
	Default  string   `json:"default,omitempty"`      // the value of a missing key; empty for none
	Live     string   `json:"default_live,omitempty"` // the value of a missing key in mode live, if it differs
	Any      bool     `json:"-"`                      // the last part of the path stands for any name
	Required bool     `json:"required"`

	What    string `json:"what"`              // a short description
	Unit    string `json:"unit,omitempty"`    // of a number
	Modes   string `json:"modes,omitempty"`   // in which it applies; all when empty
	Example string `json:"example"`           // a value, or the whole block if it needs another key
	Instead string `json:"instead,omitempty"` // another way to set it; a credential applies only where no file is named
}

// The kinds of keys.
const (
	KindBlock    = "block"
	KindText     = "text"
	KindChoice   = "choice"
	KindWords    = "list of words"
	KindUsers    = "list of numbers"
	KindSteps    = "list of steps" // {at: 1R, close: 33%}
	KindTime     = "time of day"   // 06:00, UTC; or off
	KindHours    = "hours"         // 22:00-07:00, UTC; or off
	KindWhole    = "whole number"
	KindNumber   = "number"
	KindShare    = "share"    // 5% or 0.05
	KindLoss     = "loss"     // a share, or money: 500 USDT
	KindDistance = "distance" // a share of the entry price, or a price
	KindDuration = "duration" // 500ms, 90s, 1h30m, 30d
)

// Keys returns every key of botd.yaml and of a strategy's file, from the table that reads them. The registry lists
// the parameters of strategies.
func Keys() (root, file []Key) {
	l := &loader{config: defaults()}
	for _, k := range l.keys() {
		k.list("", false, &root)
	}
	for _, k := range l.reader(newStrategyConfig("", 0), nil).keys() {
		k.list("", false, &file)
	}
	return root, file
}

// Schema returns the JSON Schema (2020-12) of botd.yaml, or of a strategy's file, with which editors complete
// keys and mark the worst mistakes. botd check finds more.
func Schema(keys []Key, registry *strategy.Registry) map[string]any {
	schema := block()
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	blocks := map[string]map[string]any{"": schema}
	for _, key := range keys {
		parent, name := "", key.Path
		if dot := strings.LastIndexByte(key.Path, '.'); dot >= 0 {
			parent, name = key.Path[:dot], key.Path[dot+1:]
		}
		above := blocks[parent]
		value := key.schema()
		if key.Kind == KindBlock {
			blocks[key.Path] = value
		}
		switch {
		case key.Any:
			above["additionalProperties"] = value
		default:
			above["properties"].(map[string]any)[name] = value
		}
		if key.Required {
			required, _ := above["required"].([]string)
			above["required"] = append(required, name)
		}
	}
	if params := blocks["params"]; params != nil && registry != nil {
		parameters(schema, params, registry)
	}
	return schema
}

func block() map[string]any {
	return map[string]any{"type": []string{"object", "null"}, "properties": map[string]any{}, "additionalProperties": false}
}

// Patterns of values that YAML reads as texts.
const (
	numberPattern   = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`
	sharePattern    = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+) ?%?$`
	lossPattern     = `^[0-9.]+ ?(%|USDT)?$`
	timePattern     = `^(off|([01][0-9]|2[0-3]):[0-5][0-9])$`
	hoursPattern    = `^(off|([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])$`
	durationPattern = `^(0|([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+)$`
)

func (k *Key) schema() map[string]any {
	pattern := func(text string) map[string]any {
		return map[string]any{"anyOf": []any{map[string]any{"type": "number"}, map[string]any{"type": "string", "pattern": text}}}
	}
	var value map[string]any
	switch k.Kind {
	case KindBlock:
		return block()
	case KindChoice:
		value = map[string]any{"enum": k.Words}
		if slices.Contains(k.Words, "true") { // YAML reads it as a boolean
			value = map[string]any{"enum": []any{"true", "false", true, false}}
		}
	case KindWords:
		value = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	case KindSteps:
		text := map[string]any{"type": []string{"string", "number"}}
		value = map[string]any{"type": "array", "items": map[string]any{"type": "object", "additionalProperties": false,
			"properties": map[string]any{"at": text, "open": text, "close": text}}}
	case KindUsers:
		value = map[string]any{"type": "array", "items": map[string]any{"type": "integer", "minimum": 1}}
	case KindTime:
		value = map[string]any{"type": "string", "pattern": timePattern}
	case KindHours:
		value = map[string]any{"type": "string", "pattern": hoursPattern}
	case KindWhole:
		value = map[string]any{"type": "integer"}
	case KindNumber:
		value = pattern(numberPattern)
	case KindShare, KindDistance:
		value = pattern(sharePattern)
	case KindLoss:
		value = pattern(lossPattern)
	case KindDuration:
		value = pattern(durationPattern)
	default:
		value = map[string]any{"type": []string{"string", "number", "boolean"}}
	}
	value["description"] = k.describe()
	return value
}

// describe describes the permitted values of a key.
func (k *Key) describe() string {
	text := k.Kind
	if k.What != "" {
		text = strings.ReplaceAll(k.What, "`", "") + "; " + text
	}
	if k.Unit != "" {
		text += ", " + k.Unit
	}
	switch {
	case k.Low != "" && k.High != "":
		text += " from " + k.Low + " to " + k.High
	case k.Low != "":
		text += ", at least " + k.Low
	case k.High != "":
		text += ", at most " + k.High
	}
	if k.Default != "" {
		text += "; default " + k.Default
	}
	if k.Live != "" {
		text += ", live " + k.Live
	}
	return text
}

// parameters adds each strategy's own parameters, and a size among them.
func parameters(schema, params map[string]any, registry *strategy.Registry) {
	delete(params, "additionalProperties")
	delete(params, "properties")
	names, rules := []string{}, []any{}
	for _, definition := range registry.All() {
		names = append(names, definition.Name)
		own := map[string]any{"size": map[string]any{"type": "object"}}
		for _, p := range definition.Parameters {
			value := map[string]any{"type": []string{"string", "number", "boolean"}, "description": p.Help}
			if len(p.OneOf) > 0 {
				value = map[string]any{"enum": p.OneOf, "description": p.Help}
			}
			own[p.Name] = value
		}
		if definition.Name == scriptKind {
			continue // its parameters are in its own file
		}
		rules = append(rules, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"strategy": map[string]any{"const": definition.Name}}},
			"then": map[string]any{"properties": map[string]any{"params": map[string]any{"properties": own, "additionalProperties": false}}},
		})
	}
	schema["properties"].(map[string]any)["strategy"] = map[string]any{"enum": slices.Sorted(slices.Values(names))}
	schema["allOf"] = rules
}
