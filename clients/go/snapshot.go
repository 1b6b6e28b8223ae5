package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Snapshot says how a subscriber reads all existing objects, as events: before it receives the first event, and when
// the stream was lost or has deleted events that the subscriber had not received.
type Snapshot struct {
	// Checkpoint stores the subscriber's checkpoint.
	Checkpoint CheckpointStore
	// Begin is called before the first event of a snapshot. The function that it returns is called after the last event.
	// That function must delete every object that the subscriber has stored and that no event since Begin has named.
	Begin func(ctx context.Context) (complete func(ctx context.Context) error, err error)
	// CompareEvery is the interval at which the subscriber compares the stream with the checkpoint; 0 means 30 seconds.
	CompareEvery time.Duration
}

// Checkpoint is what a subscriber has received: everything up to a position in a stream.
type Checkpoint struct {
	// Created is the time at which the stream was created. It identifies the stream.
	Created string `json:"created"`
	// Position is a sequence number: every event up to it was handled, or is contained in the snapshot.
	Position uint64 `json:"position"`
}

// CheckpointStore stores the checkpoint of a subscriber. The checkpoint must be stored beside the subscriber's data: if
// the data is lost, the checkpoint must be lost too, so that the subscriber takes a snapshot.
type CheckpointStore interface {
	// Load returns nil if there is no checkpoint.
	Load(ctx context.Context) (*Checkpoint, error)
	Save(ctx context.Context, checkpoint Checkpoint) error
}

// CheckpointFile stores the checkpoint in a file. The packages of all languages use the same file format.
type CheckpointFile string

// Load reads the file. It returns nil if the file does not exist.
func (file CheckpointFile) Load(context.Context) (*Checkpoint, error) {
	content, err := os.ReadFile(string(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var checkpoint Checkpoint
	if err := json.Unmarshal(content, &checkpoint); err != nil {
		return nil, fmt.Errorf("the checkpoint %s cannot be read: %w", string(file), err)
	}
	return &checkpoint, nil
}

// Save replaces the file.
func (file CheckpointFile) Save(_ context.Context, checkpoint Checkpoint) error {
	content, err := json.Marshal(checkpoint)
	if err != nil {
		return err
	}
	return writeDurably(string(file), append(content, '\n'))
}

const defaultCompareEvery = 30 * time.Second

// snapshots decides whether a snapshot is necessary, and takes it.
type snapshots struct {
	Snapshot
	listing *listing
	// previous is the state of the stream at the last comparison.
	previous *streamState
}

func newSnapshots(options Snapshot, client *Client) (*snapshots, error) {
	switch {
	case options.Checkpoint == nil:
		return nil, errors.New("the Checkpoint of the snapshot is missing")
	case options.Begin == nil:
		return nil, errors.New("the function Begin of the snapshot is missing")
	}
	if options.CompareEvery == 0 {
		options.CompareEvery = defaultCompareEvery
	}
	return &snapshots{Snapshot: options, listing: &listing{client}}, nil
}

// continues returns whether the stream still has every event after the checkpoint.
func (checkpoint *Checkpoint) continues(stream streamState) bool {
	return checkpoint != nil && checkpoint.Created == stream.Created && stream.FirstSequence <= checkpoint.Position+1
}

// takeSnapshot takes a snapshot unless the stream still has every event after the checkpoint.
func (run *run) takeSnapshot(ctx context.Context) error {
	snapshots := run.snapshots
	snapshots.previous = nil
	// The stream's state is read before the listing, so every change that the listing does not contain has a higher
	// sequence number than stream.LastSequence.
	stream, err := snapshots.listing.stream(ctx)
	if err != nil {
		return err
	}
	checkpoint, err := snapshots.Checkpoint.Load(ctx)
	if err != nil || checkpoint.continues(stream) {
		return err
	}
	run.logger.Info("snapshot begins", "stream", stream.Created)
	complete, err := snapshots.Begin(ctx)
	if err != nil {
		return err
	}
	count := 0
	err = snapshots.listing.objects(ctx, run.Filter, func(event Event) error {
		count++
		return run.handleListed(ctx, event)
	})
	if err != nil {
		return err
	}
	if err := complete(ctx); err != nil {
		return err
	}
	if err := snapshots.Checkpoint.Save(ctx, Checkpoint{stream.Created, stream.LastSequence}); err != nil {
		return err
	}
	run.logger.Info("snapshot is complete", "stream", stream.Created, "events", count)
	return nil
}

// handleListed handles an event of a snapshot. The event is retried and stored as a dead letter under the same
// conditions as an event of the stream.
func (run *run) handleListed(ctx context.Context, event Event) error {
	handle := run.handlerOf(event)
	if handle == nil {
		return nil
	}
	for failures := 1; ctx.Err() == nil; failures++ {
		err := call(context.WithoutCancel(ctx), handle, event)
		if err == nil {
			return nil
		}
		failed := FailedEvent{event, run.Durable, failures, err}
		if run.isFinal(failed) {
			if err := run.DeadLetter(context.WithoutCancel(ctx), failed); err != nil {
				return fmt.Errorf("dead letter not stored: %w", err)
			}
			run.logger.Error("event stored as dead letter", "event", event.ID, "error", err)
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(delayAfter(failures)):
		}
	}
	return ctx.Err()
}

// compareRegularly compares the stream with the checkpoint immediately and then regularly, until ctx is done. It
// returns true if the subscription must be opened again.
func (run *run) compareRegularly(ctx context.Context, consumer jetstream.Consumer) bool {
	ticker := time.NewTicker(run.snapshots.CompareEvery)
	defer ticker.Stop()
	for {
		continues, err := run.compare(ctx, consumer)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			run.logger.Warn("stream position not compared", "error", err)
		}
		if err == nil && !continues || errors.Is(err, jetstream.ErrConsumerNotFound) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

// compare returns false if a snapshot is necessary. If the consumer has received and acknowledged everything, compare
// stores a checkpoint: the stream's last sequence number at the previous comparison.
func (run *run) compare(ctx context.Context, consumer jetstream.Consumer) (bool, error) {
	snapshots := run.snapshots
	stream, err := snapshots.listing.stream(ctx)
	if err != nil {
		return false, err
	}
	checkpoint, err := snapshots.Checkpoint.Load(ctx)
	if err != nil || !checkpoint.continues(stream) {
		return false, err
	}
	infoContext, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	info, err := consumer.Info(infoContext)
	if err != nil {
		return false, err
	}
	previous := snapshots.previous
	snapshots.previous = &stream
	caughtUp := info.NumPending == 0 && info.NumAckPending == 0
	if caughtUp && previous != nil && previous.Created == stream.Created && previous.LastSequence > checkpoint.Position {
		return true, snapshots.Checkpoint.Save(ctx, Checkpoint{stream.Created, previous.LastSequence})
	}
	return true, nil
}
