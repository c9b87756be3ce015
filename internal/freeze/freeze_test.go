package freeze

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
)

type leaf struct{ n int64 }

type tree struct {
	name   string
	on     bool
	small  uint8
	pair   [2]leaf
	list   []leaf
	empty  []leaf
	none   []leaf
	shared *leaf
	again  *leaf
	nobody *leaf
	byName map[string]*leaf
}

func TestThawedValueEqualsFrozenValue(t *testing.T) {
	t.Parallel()
	one := &leaf{-7}
	want := &tree{"x", true, 200, [2]leaf{{1}, {2}}, []leaf{{3}, {-4}}, []leaf{}, nil, one, one, nil, map[string]*leaf{"b": one, "a": {9}}}
	text := Freeze(want)
	have := &tree{}
	if err := Thaw(text, have); err != nil || !reflect.DeepEqual(want, have) {
		t.Errorf("want %+v, have %+v, %v", want, have, err)
	}
	if have.shared != have.again || have.byName["b"] != have.shared {
		t.Error("want pointers to one value to stay so")
	}
	for range 200 { // whatever the order of a map
		if !bytes.Equal(text, Freeze(have)) {
			t.Fatal("want the same text for an equal value")
		}
	}
}

func TestADamagedTextIsAnErrorAndNoPanic(t *testing.T) {
	t.Parallel()
	text := Freeze(&tree{name: "x", list: []leaf{{1}, {2}}, byName: map[string]*leaf{"a": {1}}})
	for i := range text {
		if err := Thaw(text[:i], &tree{}); err == nil {
			t.Errorf("cut to %d bytes: want an error", i)
		}
		damaged := bytes.Clone(text)
		damaged[i] ^= 0xff
		_ = Thaw(damaged, &tree{}) // no panic, and bounded memory
	}
	if Thaw(append(text, 0), &tree{}) == nil {
		t.Error("want an error for what is left")
	}
}

func TestAnotherLayoutHasAnotherName(t *testing.T) {
	t.Parallel()
	type before struct{ A int64 }
	type after struct {
		A int64
		B string
	}
	first, again := Layout(&tree{}), Layout(new(tree))
	if Layout(before{}) == Layout(after{}) || first != again {
		t.Errorf("want another name for another layout alone: %s, %s", Layout(before{}), Layout(after{}))
	}
}

// namesOfOne and namesOfOther have layouts whose types have one name, in whatever they are contained.
func namesOfOne() []string {
	type row struct{ A int64 }
	return layouts(row{}, &row{}, []row{}, [2]row{}, map[string]row{}, map[row]bool{}, struct{ R row }{})
}

func namesOfOther() []string {
	type row struct{ B int64 }
	return layouts(row{}, &row{}, []row{}, [2]row{}, map[string]row{}, map[row]bool{}, struct{ R row }{})
}

func layouts(values ...any) (all []string) {
	for _, value := range values {
		all = append(all, Layout(value))
	}
	return all
}

// ring refers to itself.
type ring struct{ next *ring }

func TestALayoutIsThatOfWhatItContains(t *testing.T) {
	t.Parallel()
	one, other := namesOfOne(), namesOfOther()
	for i := range one {
		if one[i] == other[i] {
			t.Errorf("type %d: want two layouts, have %s twice", i, one[i])
		}
		if slices.Index(one, one[i]) != i {
			t.Errorf("type %d: want a name of its own, have %s", i, one[i])
		}
	}
	if a, b := Layout([2]leaf{}), Layout([3]leaf{}); a == b || len(a) != 16 {
		t.Errorf("want another name for another length, of 16 digits, have %s and %s", a, b)
	}
	var loop ring
	loop.next = &loop
	if a, b := Layout(&loop), Layout(loop); a == b {
		t.Errorf("want two names, have %s", a)
	}
	for _, value := range []any{struct{ f func() }{}, struct{ c chan int }{}, struct{ e error }{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T: want a panic for what cannot be frozen", value)
				}
			}()
			Layout(value)
		}()
	}
}

// TestAValueIsReplacedWhole thaws into a target that has values, and reads a list with one byte per element
// at the end of the text.
func TestAValueIsReplacedWhole(t *testing.T) {
	t.Parallel()
	type row struct {
		list   []leaf
		byName map[string]*leaf
		to     *leaf
		flags  []bool
	}
	for _, want := range []row{{}, {flags: []bool{true, false, true}}, {list: []leaf{}, byName: map[string]*leaf{}, flags: []bool{}}} {
		have := row{[]leaf{{1}}, map[string]*leaf{"a": {1}}, &leaf{1}, []bool{true}}
		if err := Thaw(Freeze(&want), &have); err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("want %+v, have %+v, %v", want, have, err)
		}
	}
}
