package strategy

// Decision is one call of Decide: it reads memory from the view and writes memory to the plan.
type Decision struct {
	View *View
	Plan *Plan
}

// Recall returns a remembered value, including this decision's changes, or 0 if there is none.
func (d *Decision) Recall(key string) int64 {
	if value, is := d.Plan.memory.Get(key); is {
		return value
	}
	value, _ := d.View.Memory.Get(key)
	return value
}

// Remember stores a value in the journal unless the journal already has it.
func (d *Decision) Remember(key string, value int64) {
	if d.Recall(key) != value {
		d.Plan.Remember(key, value)
	}
}
