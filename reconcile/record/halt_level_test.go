package record

import (
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
