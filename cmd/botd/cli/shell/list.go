package shell

// Listed is a document with a list of items.
type Listed[T any] struct {
	Schema int `json:"schema"`
	Items  []T `json:"items"`
}

// List makes a Listed; without items its list is empty, not null.
func List[T any](items []T) Listed[T] {
	if items == nil {
		items = []T{}
	}
	return Listed[T]{1, items}
}
