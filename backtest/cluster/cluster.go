// Package cluster spreads the trials of sweeps over many machines, on NATS JetStream.
//
// A job is the hash of all inputs of a trial, so running it twice gives the same row.
// Messages are delivered at least once. The first row of a job counts, and any further row
// must equal it; to verify that, a second worker repeats a fixed hundredth of the jobs.
// The package places no orders and does not communicate with a daemon.
//
// The server holds:
//
//	stream botd_jobs     work queue: botd.jobs.PROGRAM.SWEEP, a few trials per message
//	bucket botd_rows     SWEEP.row.JOB, SWEEP.check.JOB, SWEEP.failed.JOB: each written once
//	bucket botd_sweeps   SWEEP: description, progress and coordinator of a sweep
//	bucket botd_workers  one key per worker, renewed every few seconds
//	objects botd_files   candles and other inputs, by the hash of their content
package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest/search"
	"botd/backtest/sweeps"
)

// The names on the server.
const (
	jobStream    = "botd_jobs"
	rowBucket    = "botd_rows"
	sweepBucket  = "botd_sweeps"
	workerBucket = "botd_workers"
	fileBucket   = "botd_files"
)

// Limits and intervals.
const (
	ackWait      = 15 * time.Second // redelivery timeout: after it a message goes to another worker
	beat         = 5 * time.Second  // of workers and coordinators
	silent       = 20 * time.Second // without a beat a worker or coordinator counts as ended
	away         = time.Minute      // maximum wait of a row for an unreachable server; then another worker runs its trial
	keep         = 7 * 24 * time.Hour
	batchWork    = 10 * time.Second // of one message
	maxBatch     = 500              // trials of one message
	maxDelivered = 10               // deliveries of a message before its trials count as deadly
	maxFile      = 4 << 30
)

// The states of a sweep.
const (
	Running     = "running"
	Interrupted = "interrupted" // no coordinator is alive; botd sweep resume continues it
	Done        = "done"
	Canceled    = "canceled"
	Failed      = "failed"
)

// Sweep is the server's record of a sweep.
type Sweep struct {
	Name     string       `json:"name"`
	State    string       `json:"state"`
	Reason   string       `json:"why,omitempty"` // the reason of a failure
	Program  string       `json:"program"`       // hash of the program that may run its trials
	Version  string       `json:"version"`       // of that program, for people
	Host     string       `json:"host"`          // of the coordinator
	Total    int          `json:"total"`         // trials known so far
	Ended    int          `json:"ended"`
	Rate     float64      `json:"rate"`    // trials a second, in the last minute
	Checked  int          `json:"checked"` // trials that two workers ran, with the same row
	Updated  time.Time    `json:"updated"`
	Finished *time.Time   `json:"finished,omitempty"`
	Spec     *sweeps.Spec `json:"spec"`
	Files    []file       `json:"files"`
}

// file is one input of a sweep.
type file struct {
	Role   string `json:"role"`             // data, detail, funding, signals, columns, symbols, strategy
	Name   string `json:"name"`             // its base name; for a strategy its path relative to the strategy's file
	Prefix string `json:"prefix,omitempty"` // of columns: the prefix of each name; of another symbol's candles: that symbol
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// WorkerStatus is a worker's report about itself.
type WorkerStatus struct {
	ID      string    `json:"id"`
	Program string    `json:"program"`
	Version string    `json:"version"`
	Slots   int       `json:"slots"`
	Trials  int64     `json:"trials"`  // ended since its start
	Refused string    `json:"refused"` // why it cannot join a sweep under way; empty if it can
	Since   time.Time `json:"since"`
	Updated time.Time `json:"updated"`
}

// message requests the trials of one delivery.
type message struct {
	Sweep string `json:"sweep"`
	Jobs  []job  `json:"jobs"`
	Not   string `json:"not,omitempty"` // the worker that ran these jobs first: another one must check them
}

type job struct {
	Job    string        `json:"job"`
	Choice search.Choice `json:"choice"`
}

// row is a worker's result of a job.
type row struct {
	Worker  string          `json:"worker"`
	Seconds float64         `json:"seconds"`
	Trial   json.RawMessage `json:"trial,omitempty"` // as a line of trials.jsonl
	Failure string          `json:"failure,omitempty"`
	First   *row            `json:"first,omitempty"` // the earlier row, where this one differs
}

// keyOf returns a sweep's part of subjects and keys, since its name may contain dots.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

func subjectOf(program, key string) string { return "botd.jobs." + program[:16] + "." + key }

// store gives access to the data on the server.
type store struct {
	connection *nats.Conn
	js         jetstream.JetStream
	jobs       jetstream.Stream
	rows       jetstream.KeyValue
	sweeps     jetstream.KeyValue
	workers    jetstream.KeyValue
	files      jetstream.ObjectStore
}

// open opens the stream and the buckets on the server, and creates missing ones. A busy server may
// not answer in time; creating again what exists changes nothing.
func open(ctx context.Context, connection *nats.Conn) (s *store, err error) {
	for range openTries {
		if s, err = openOnce(ctx, connection); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return s, err
		}
	}
	return s, err
}

const openTries = 3

func openOnce(ctx context.Context, connection *nats.Conn) (*store, error) {
	s := &store{connection: connection}
	var err error
	if s.js, err = jetstream.New(connection, jetstream.WithDefaultTimeout(ackWait)); err != nil {
		return nil, err
	}
	if s.jobs, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: jobStream, Subjects: []string{"botd.jobs.*.*"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage}); err != nil {
		return nil, fmt.Errorf("make the stream %s: %w", jobStream, err)
	}
	for _, bucket := range []struct {
		into *jetstream.KeyValue
		name string
		ttl  time.Duration
	}{{&s.rows, rowBucket, keep}, {&s.sweeps, sweepBucket, keep}, {&s.workers, workerBucket, silent}} {
		*bucket.into, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket.name, TTL: bucket.ttl, Storage: jetstream.FileStorage})
		if err != nil {
			return nil, fmt.Errorf("make the bucket %s: %w", bucket.name, err)
		}
	}
	files := jetstream.ObjectStoreConfig{Bucket: fileBucket, TTL: keep, Storage: jetstream.FileStorage}
	if s.files, err = s.js.CreateOrUpdateObjectStore(ctx, files); err != nil {
		return nil, fmt.Errorf("make the object store %s: %w", fileBucket, err)
	}
	return s, nil
}

// consumer returns the queue for workers of one program.
func (s *store) consumer(ctx context.Context, program string) (jetstream.Consumer, error) {
	return s.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "workers-" + program[:16], AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: ackWait, MaxDeliver: -1, MaxAckPending: 100_000, FilterSubject: subjectOf(program, "*"), InactiveThreshold: keep})
}

// sweep reads the server's record of a sweep.
func (s *store) sweep(ctx context.Context, key string) (*Sweep, uint64, error) {
	entry, err := s.sweeps.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, sweeps.ErrNone
	}
	if err != nil {
		return nil, 0, err
	}
	found, err := sweepOf(entry.Value())
	return found, entry.Revision(), err
}

func sweepOf(text []byte) (*Sweep, error) {
	var found Sweep
	if err := json.Unmarshal(text, &found); err != nil || found.Spec == nil || len(found.Program) != 2*sha256.Size {
		return nil, foreign("a sweep", err)
	}
	return &found, nil
}

// errIncomplete is the reason for rejecting a text that parses but was not written by botd.
var errIncomplete = errors.New("it lacks a field")

// foreign returns the error for a text on the server that botd did not write.
func foreign(what string, err error) error {
	return fmt.Errorf("the server's data is not %s: %w", what, cmp.Or(err, errIncomplete))
}

// alive reports whether a running sweep has a live coordinator.
func (s *Sweep) alive(now time.Time) bool { return s.State == Running && now.Sub(s.Updated) < silent }
