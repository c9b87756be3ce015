package view

import (
	"cmp"
	"slices"
)

// ring holds the newest values, each under an ascending number that is its id.
type ring[T any] struct {
	all  []numbered[T] // oldest first
	last int64
	most int
}

type numbered[T any] struct {
	n     int64
	value T
}

func newRing[T any](most int) ring[T] { return ring[T]{most: most} }

// reserved allocates the memory of a full ring at once, so that it does not grow later: clear makes the pages resident.
func (r ring[T]) reserved() ring[T] {
	r.all = make([]numbered[T], r.most)
	clear(r.all)
	r.all = r.all[:0]
	return r
}

// nextID returns the id of the next value.
func (r *ring[T]) nextID() string { return number(r.last + 1) }

// add keeps a value under the next number.
func (r *ring[T]) add(value T) *T { return r.addAs(r.last+1, value) }

// addAs stores a value under a given number. A full ring drops its oldest tenth.
func (r *ring[T]) addAs(n int64, value T) *T {
	if len(r.all) >= r.most {
		r.all = r.all[:copy(r.all, r.all[r.most/10:])]
	}
	r.last = n
	r.all = append(r.all, numbered[T]{n, value})
	return &r.all[len(r.all)-1].value
}

// get returns the value of a number, nil if it was dropped.
func (r *ring[T]) get(n int64) *T {
	i, found := slices.BinarySearchFunc(r.all, n, func(e numbered[T], n int64) int { return cmp.Compare(e.n, n) })
	if !found {
		return nil
	}
	return &r.all[i].value
}

// page returns values, newest first.
func (r *ring[T]) page(page Page, keep func(*T) bool) ([]T, string) {
	return Newest(r.all, page, func(e *numbered[T]) int64 { return e.n }, func(e *numbered[T]) bool { return keep(&e.value) },
		func(e *numbered[T]) T { return e.value })
}

// newest returns the newest value, nil for none.
func (r *ring[T]) newest() *T {
	if len(r.all) == 0 {
		return nil
	}
	return &r.all[len(r.all)-1].value
}
