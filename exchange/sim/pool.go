package sim

// spares are values that nothing refers to any more, for reuse.
type spares[T any] []*T

// blank returns a zero value.
func (s *spares[T]) blank() *T {
	last := len(*s) - 1
	if last < 0 {
		return new(T)
	}
	value := (*s)[last]
	*s = (*s)[:last]
	var zero T
	*value = zero
	return value
}
