package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"botd/exchange/rest"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/lane"
	"botd/runtime/view"
)

// openLane opens the file of the kill switch's lane, and journals the lane's actions of the
// previous run that are not in the journal.
func (p *process) openLane(ctx context.Context, account *engine.Config, tracker *reconcile.Tracker) error {
	path := filepath.Join(p.directory, lane.FileName)
	file, found, err := lane.OpenFile(path, p.key.Coder("kill switch line"))
	if err != nil {
		return failure.New(failure.IO, "make room on the disk, or, when botd journal tail and the exchange agree, remove it", "%w", err)
	}
	records, err := lane.Replay(ctx, found, p.venue.Client.ServerNowMS(), p.store, tracker)
	if err == nil {
		err = file.Reset()
	}
	if err != nil {
		return failure.Wrap(failure.IO, errors.Join(err, file.Close()))
	}
	for i := range records {
		p.history.Apply(&records[i])
	}
	p.laneFile, p.laneStart = file, placement.Start{Epoch: account.Epoch, Random: account.Lane}
	return nil
}

// makeLane makes the kill switch's lane, and the driver whose placements pass its gate.
func (p *process) makeLane(config runtime.Config) {
	late := &lateDriver{}
	p.lane = lane.New(lane.Config{Venue: config.Venue, Driver: late, NowMS: p.venue.Client.ServerNowMS, Urgent: rest.Urgent, File: p.laneFile,
		Instance: p.config.Instance, Start: p.laneStart, Log: p.console.Warn,
		Activated: p.laneUsed})
	config.Venue, config.First = p.lane.Gate(), p.lane.First
	p.driver = runtime.New(config)
	late.Driver = p.driver
}

// laneUsed measures a completed use of the lane.
func (p *process) laneUsed(a lane.Activation) {
	p.metrics.LaneUsed(time.Duration(a.EndedMS-a.SinceMS) * time.Millisecond)
}

// lateDriver is the driver, which is made after the lane whose gate it uses.
type lateDriver struct{ *runtime.Driver }

// serveLane passes halts to the lane, which passes them to the engine first.
func (p *process) serveLane(served *api.Config) {
	if p.lane != nil {
		served.Driver, served.Lane, served.LaneUse = p.lane, p.lane, p.laneUse
	}
}

// laneUse returns the last use of the kill switch's lane; nil for none.
func (p *process) laneUse() *view.LaneUse {
	if p.lane == nil {
		return nil
	}
	if u := p.lane.LastActivation(); u != nil {
		return useShown(u)
	}
	return nil
}

// useShown converts times to durations since the first halt.
func useShown(u *lane.Activation) *view.LaneUse {
	shown := &view.LaneUse{Since: time.UnixMilli(u.SinceMS).UTC(), RequestedBy: u.By, Level: u.Level, Cause: u.Cause, Orders: u.Orders, Active: u.EndedMS == 0}
	if u.DoneMS != 0 {
		shown.DoneAfterMS = u.DoneMS - u.SinceMS
	}
	if u.EndedMS != 0 {
		shown.TookMS = u.EndedMS - u.SinceMS
	}
	return shown
}

// showLane passes the newest list to the lane, when it has changed.
func (p *process) showLane(status *engine.Status) {
	if version := p.machine.Tracker().Version(); p.lane != nil && (status != nil || version != p.listed) {
		p.listed = version
		p.lane.Show(p.machine.Exposures())
	}
}
