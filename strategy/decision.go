package strategy

// Decision is one call of Decide: memory is read from the view, and written to the plan.
type Decision struct {
	View *View
	Plan *Plan
}

// Recall returns a remembered value as this decision has changed it so far; 0 where there is none.
func (d *Decision) Recall(key string) int64 {
	if value, is := d.Plan.memory.Get(key); is {
		return value
	}
	value, _ := d.View.Memory.Get(key)
	return value
}

// Remember stores a value in the journal, unless it is stored already.
func (d *Decision) Remember(key string, value int64) {
	if d.Recall(key) != value {
		d.Plan.Remember(key, value)
	}
}
