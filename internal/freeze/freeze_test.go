package freeze

import (
	"bytes"
	"reflect"
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
	for range 20 { // whatever the order of a map
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
