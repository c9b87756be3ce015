package simulation

// process is one running botd with its engine, its journal, and its strategies. A seed beyond the bounds may run two on one account.
type process struct {
	daemon    *daemon
	disk      *disk
	portfolio *portfolio
	number    int  // 0 for the first one
	retired   bool // it never starts again
}

// put schedules an event for the current process.
func (w *world) put(h scheduled) {
	h.process = w.process
	w.agenda.put(h)
}

// wakes returns the process whose engine wakes first, and the time.
func (w *world) wakes() (first *process, atMS int64) {
	atMS = never
	for _, p := range w.processes {
		if due := p.daemon.wakeMS(); due < atMS {
			first, atMS = p, due
		}
	}
	return first, atMS
}

// as runs a function on behalf of a process, then switches back to the first one.
func (w *world) as(p *process, run func()) {
	w.process = p
	run()
	w.process = w.processes[0]
}
