package shell

// Listed is a document with several items.
type Listed[T any] struct {
	Schema int `json:"schema"`
	Items  []T `json:"items"`
}

// List makes one; of no items it has an empty list, not null.
func List[T any](items []T) Listed[T] {
	if items == nil {
		items = []T{}
	}
	return Listed[T]{1, items}
}
