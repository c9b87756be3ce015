package reconcile

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestAHaltLevelIsWrittenAndReadByItsName(t *testing.T) {
	t.Parallel()
	for level, name := range map[HaltLevel]string{LevelNone: "", LevelPause: "pause", LevelCancel: "cancel", LevelFlatten: "flatten"} {
		if have := level.String(); have != name {
			t.Errorf("level %d: want %q, have %q", level, name, have)
		}
		if have, err := ParseHaltLevel(name); have != level || err != nil {
			t.Errorf("parse %q: want %d, have %d, %v", name, level, have, err)
		}
	}
	for _, name := range []string{"Pause", "stop", "flatten ", "0", "1"} {
		if have, err := ParseHaltLevel(name); err == nil || have != LevelNone || !strings.Contains(err.Error(), "pause, cancel, flatten") {
			t.Errorf("parse %q: want an error that names the levels, have %q, %v", name, have, err)
		}
	}
	if want, have := []string{"pause", "cancel", "flatten"}, HaltLevels(); !slices.Equal(want, have) {
		t.Errorf("want %v, have %v", want, have)
	}
}

func TestARecordOfAHaltKeepsItsLevelsName(t *testing.T) {
	t.Parallel()
	for text, level := range map[string]HaltLevel{
		`{"kind":"halt","at_ms":1,"why":"news","level":"flatten"}`: LevelFlatten,
		`{"kind":"halt","at_ms":1,"why":"news"}`:                   LevelNone,
	} {
		var record Record
		if err := json.Unmarshal([]byte(text), &record); err != nil || record.Level != level {
			t.Errorf("%s: want %q, have %q, %v", text, level, record.Level, err)
		}
		if have, err := json.Marshal(&record); string(have) != text || err != nil {
			t.Errorf("want %s, have %s, %v", text, have, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"kind":"halt","at_ms":1,"level":"all"}`), new(Record)); err == nil {
		t.Error("want an unknown level refused: what it would stop is not known")
	}
}

func TestAHaltIsOnlyEverEscalated(t *testing.T) {
	t.Parallel()
	book := NewBook(Settle{})
	for _, step := range []struct{ level, want HaltLevel }{
		{LevelPause, LevelPause}, {LevelFlatten, LevelFlatten}, {LevelCancel, LevelFlatten}, {LevelNone, LevelNone}, {LevelCancel, LevelCancel},
	} {
		book.Apply(&Record{Kind: RecordHalt, Level: step.level, Why: "a test"})
		if have := book.Halted().Level; have != step.want {
			t.Errorf("after %q: want %q, have %q", step.level, step.want, have)
		}
	}
}
