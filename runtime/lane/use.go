package lane

import "botd/reconcile/record"

// Use is one use of the kill switch independent of the engine.
type Use struct {
	SinceMS int64            // time of the first halt request
	By      string           // its author
	Level   record.HaltLevel // the strictest requested level
	Cause   string           // why it did not wait for the engine
	DoneMS  int64            // when nothing was left to cancel or close; 0 while something is, or cannot be seen
	OverMS  int64            // when the engine had taken over; 0 before
	Orders  int              // number of orders sent
}

// LastUse returns the last use since the start, which may be ongoing, or nil.
func (l *Lane) LastUse() *Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.use == nil {
		return nil
	}
	use := *l.use
	if l.acting != nil {
		use.Orders = len(l.acting.orders)
	}
	return &use
}

// begun records that a halt is carried out without the engine. The caller holds the mutex.
func (l *Lane) begun(a *action, p *pull) {
	if l.use == nil || l.use.OverMS != 0 {
		l.use = &Use{SinceMS: a.sinceMS, By: "botd", Cause: a.cause}
		if p.audit != nil {
			l.use.By = p.audit.Actor + " " + p.audit.From
		}
	}
	l.use.Level, l.use.DoneMS = max(l.use.Level, p.halt.Level), 0
}

// progressed records when nothing is left. The caller holds the mutex.
func (l *Lane) progressed(a *action) {
	if left, blind := a.remaining(); left == "" && len(blind) == 0 && l.use.DoneMS == 0 {
		l.use.DoneMS = l.config.NowMS()
	}
}

// over records that the engine has taken over. The caller holds the mutex.
func (l *Lane) over(a *action) {
	l.use.OverMS, l.use.Orders = l.config.NowMS(), len(a.orders)
	if l.config.Used != nil {
		l.config.Used(*l.use)
	}
}
