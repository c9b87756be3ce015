package jsonalias

import (
	"encoding/json"
	"testing"
	"time"
)

type inner struct {
	Remedy string `json:"remedy" was:"way_out"`
	Count  int    `json:"count,omitempty" was:"times,number"`
	hidden int
}

type untagged struct {
	Text string `json:"text"`
}

type node struct {
	Name string  `json:"name" was:"label"`
	Next []*node `json:"next"`
}

type outer struct {
	Schema int `json:"schema"`
	inner
	At     time.Time        `json:"at"`
	List   []inner          `json:"list"`
	Empty  []inner          `json:"empty"`
	None   *inner           `json:"none"`
	Some   *inner           `json:"some,omitempty" was:"any"`
	ByName map[string]inner `json:"by_name"`
	NoMap  map[string]inner `json:"no_map"`
	Other  untagged         `json:"other"`
	Secret string           `json:"-"`
	Any    any              `json:"whatever"`
}

func TestOldNamesFollowAtTheEndOfTheirObject(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := inner{"wait", 0, 1}
	for _, c := range []struct {
		value any
		want  string
	}{
		{one, `{"remedy":"wait","way_out":"wait"}`},
		{&inner{"<", 2, 1}, `{"remedy":"\u003c","count":2,"way_out":"\u003c","times":2,"number":2}`},
		{nil, `null`},
		{untagged{"as it is"}, `{"text":"as it is"}`},
		{node{"a", []*node{{Name: "b"}}}, `{"name":"a","next":[{"name":"b","next":null}],"label":"a"}`},
		{
			outer{Schema: 1, inner: one, At: at, List: []inner{one}, Empty: []inner{}, Some: &one, ByName: map[string]inner{"x": one}, Secret: "s", Any: one},
			`{"schema":1,"remedy":"wait","at":"2026-01-02T03:04:05Z","list":[{"remedy":"wait","way_out":"wait"}],"empty":[],"none":null,` +
				`"some":{"remedy":"wait","way_out":"wait"},"by_name":{"x":{"remedy":"wait","way_out":"wait"}},"no_map":null,"other":{"text":""},` +
				`"whatever":{"remedy":"wait"},"way_out":"wait","any":{"remedy":"wait","way_out":"wait"}}`,
		},
	} {
		have, err := Marshal(c.value)
		if err != nil || string(have) != c.want {
			t.Errorf("want %s\nhave %s %v", c.want, have, err)
		}
	}
}

func TestAValueWithoutRenamedFieldsIsNotCopied(t *testing.T) {
	t.Parallel()
	text := json.RawMessage(`{"a":1}`)
	for _, value := range []any{&untagged{}, &text, &[]time.Time{{}}} {
		if WithOldNames(value) != value {
			t.Errorf("%T was copied", value)
		}
	}
}
