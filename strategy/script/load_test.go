package script

import (
	"errors"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// withLibraries compiles a script with libraries, given as name, text, name, text.
func withLibraries(text string, libraries ...string) (*Script, error) {
	source := &strategy.Source{File: "folder/my.star", Text: []byte(text)}
	source.Gather(func(name string) ([]byte, bool, error) {
		for i := 0; i < len(libraries); i += 2 {
			if libraries[i] == name {
				return []byte(libraries[i+1]), true, nil
			}
		}
		return nil, false, errors.New("it is a link out of the folder")
	})
	return Compile(source.File, source.Text, source.Libraries...)
}

func TestAScriptLoadsLibraries(t *testing.T) {
	t.Parallel()
	compiled, err := withLibraries(`
load("trends.star", "trend", shift = "offset")
load("deep/more.star", "sides")
up = trend(2, 4)

def decide(view):
    return hold(sides[0] if up else sides[1], reason = "%d %d" % (shift(1), state.get("n", 0)))
`, "trends.star", `load("deep/more.star", "plus")
slow = param("slow", 4, min = 2)

def trend(fast, than):
    return ema(close, fast) > ema(close, slow) and not falling(close, 2)

def offset(n):
    return plus(n, 41)
`, "deep/more.star", `sides = ["long", "flat"]

def plus(a, b):
    return a + b
`)
	if err != nil {
		t.Fatal(err)
	}
	place := setting(t, exchange.Futures)
	s, err := compiled.Definition().New(place, strategy.Values{"slow": "3"})
	if err != nil {
		t.Fatal(err)
	}
	w, sides := newWorld(place), ""
	for _, to := range []float64{100, 101, 99, 98, 97, 103, 110, 120} {
		plan := w.close(s, to)
		sides += map[int]string{1: "long ", 0: "flat "}[plan.Target.Sign()]
		if plan.Reason != "42 0" {
			t.Errorf("want the reason of the libraries' functions, have %q", plan.Reason)
		}
	}
	if sides != "flat flat flat flat flat long long long " {
		t.Errorf("want long once the averages have crossed, have %s", sides)
	}
}

func TestLoadErrorNamesPosition(t *testing.T) {
	t.Parallel()
	const decides = "\ndef decide(view):\n    pass\n"
	for _, c := range []struct {
		name, script, want string
		libraries          []string
	}{
		{"outside of the folder", `load("../lib.star", "a")`, `folder/my.star:1:6: load("../lib.star"): a library is a .star file`, nil},
		{"an absolute path", `load("/etc/lib.star", "a")`, `load("/etc/lib.star"): a library is a .star file`, nil},
		{"another kind of file", `load("lib.yaml", "a")`, `load("lib.yaml"): a library is a .star file`, nil},
		{"a link", `load("lib.star", "a")`, `load("lib.star"): cannot be read: it is a link out of the folder`, nil},
		{"a name that it lacks", `load("lib.star", "b")`, `folder/my.star:1:1: load: name b not found in module lib.star`, []string{"lib.star", "a = 1"}},
		{"a syntax error in it", `load("lib.star", "a")`, `folder/lib.star:2:5: got `, []string{"lib.star", "a = 1\nb = = 2"}},
		{"an unknown name on a branch", `load("lib.star", "a")`, `folder/lib.star:3:16: ema2 is not defined`,
			[]string{"lib.star", "def a(x):\n    if x:\n        return ema2(close)\n    return 1"}},
		{"a member that nothing has", `load("lib.star", "a")`, `folder/lib.star:2:16: view has no .postion field`,
			[]string{"lib.star", "def a(view):\n    return view.postion"}},
		{"an error of its top", `load("lib.star", "a")`, `folder/lib.star:2:9: floating-point division by zero`, []string{"lib.star", "b = 0\na = 1.0 / b"}},
		{"a cycle", `load("one.star", "a")`, `folder/two.star:1:6: load("one.star"): the libraries load each other: one.star loads two.star loads one.star`,
			[]string{"one.star", "load(\"two.star\", \"b\")\na = b", "two.star", "load(\"one.star\", \"a\")\nb = a"}},
		{"itself", `load("my.star", "a")`, `the libraries load each other: my.star loads my.star`, []string{"my.star", "load(\"my.star\", \"a\")"}},
		{"its list is frozen", "load(\"lib.star\", \"a\")\na.append(1)", "cannot append to frozen list", []string{"lib.star", "a = []"}},
	} {
		_, err := withLibraries(c.script+decides, c.libraries...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\nwant %s\nhave %v", c.name, c.want, err)
		}
	}
}

// TestTooManyStepsOfALibrary takes the steps of the whole top of a script.
func TestTooManyStepsOfALibrary(t *testing.T) {
	t.Parallel()
	_, err := withLibraries("load(\"lib.star\", \"a\")\ndef decide(view):\n    pass\n", "lib.star", "a = [1 for _ in range(100000000)]")
	if err == nil || !strings.Contains(err.Error(), "folder/lib.star:1:") || !strings.Contains(err.Error(), "took too many steps") {
		t.Errorf("want it ended, have %v", err)
	}
}

func TestALibraryThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := Compile("my.star", []byte("load(\"lib.star\", \"a\")\ndef decide(view):\n    pass\n"))
	var at *strategy.SourceError
	if !errors.As(err, &at) || at.Line != 1 || at.Column != 6 || at.Err.Error() != `load("lib.star"): file not found` || at.Hint == "" {
		t.Errorf("want the position of its name and a hint, have %+v", err)
	}
}

// A script watches what its libraries read from the view, including the libraries of a library.
func TestAScriptWatchesWhatItsLibrariesName(t *testing.T) {
	t.Parallel()
	compiled, err := withLibraries("load(\"one.star\", \"rate\")\ndef decide(view):\n    return None if rate(view) > view.bid else None\n",
		"one.star", "load(\"two.star\", \"lost\")\ndef rate(view):\n    return view.funding + lost(view)\n",
		"two.star", "def lost(view):\n    return view.missed\n")
	if err != nil {
		t.Fatal(err)
	}
	s, err := compiled.Definition().New(setting(t, exchange.Futures), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, have := (strategy.Watching{Funding: true, OrderBook: true, Events: true}), strategy.WatchingOf(s); have != want {
		t.Errorf("want %+v, have %+v", want, have)
	}
}

// TestTheHashOfAScriptIsOfItsLibrariesToo changes one byte of a library.
func TestTheHashOfAScriptIsOfItsLibrariesToo(t *testing.T) {
	t.Parallel()
	hash := func(library string) string {
		s := &strategy.Source{File: "my.star", Text: []byte("load(\n    'lib.star', 'a')\n")}
		s.Gather(func(string) ([]byte, bool, error) { return []byte(library), true, nil })
		if len(s.Libraries) != 1 {
			t.Fatalf("want the library found, have %v", s.Libraries)
		}
		return s.SHA256()
	}
	if one, again, other := hash("a = 1"), hash("a = 1"), hash("a = 2"); one != again || one == other {
		t.Error("want equal hashes of equal libraries, and another of another")
	}
	const want = "9f56e761d79bfdb34304a012586cb04d16b435ef6130091a97702e559260a2f2"
	if have := (&strategy.Source{Text: []byte("pass\n")}).SHA256(); have != want {
		t.Errorf("want the hash of the text alone, %s, have %s", want, have)
	}
}
