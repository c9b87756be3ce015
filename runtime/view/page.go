package view

// Page is which part of a list is asked for.
type Page struct {
	Limit int
	After int64 // only what is older than this number; 0 for the newest
}

// Newest takes a page of what is kept oldest first.
func Newest[T, V any](all []T, page Page, of func(*T) int64, keep func(*T) bool, show func(*T) V) (items []V, next string) {
	for i := len(all) - 1; i >= 0; i-- {
		if page.After != 0 && of(&all[i]) >= page.After || !keep(&all[i]) {
			continue
		}
		if len(items) == page.Limit {
			return items, next
		}
		items = append(items, show(&all[i]))
		next = number(of(&all[i]))
	}
	return items, ""
}

// Decimal is a number in decimal notation, which keeps every digit; empty where there is none.
type Decimal = string
