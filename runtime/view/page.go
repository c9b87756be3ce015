package view

import "strconv"

// Page is which part of a list to return.
type Page struct {
	Limit int
	After int64 // only items older than this number; 0 for the newest
}

// Newest returns a page of a list that is stored oldest first, and where the next page begins.
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

// recent is the page of a summary.
var recent = Page{Limit: 50}

// Decimal is a number in decimal notation, which keeps every digit; empty for none.
type Decimal = string

// TextOf returns the text of a number that may be unknown; empty if it is.
func TextOf(number *Decimal) Decimal {
	if number == nil {
		return ""
	}
	return *number
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// OrEmpty replaces a nil list by an empty one, so that JSON does not write null.
func OrEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
