package events_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	events "statehouse.example/events"
)

var failedEvent = events.FailedEvent{
	Event:    events.Event{ID: "one", Type: "statehouse.workspaces.workspace.locked.v1", JSON: []byte("{}")},
	Consumer: "billing", Failures: 8, Err: errors.New("cannot"),
}

// namesIn returns the names of the files in a folder.
func namesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestReplicasWithTheSameProcessIDCanStoreTheSameEvent(t *testing.T) {
	folder := t.TempDir()
	var replicas sync.WaitGroup
	for range 20 {
		replicas.Go(func() {
			if err := events.NewDeadLetterFiles(folder).Store(context.Background(), failedEvent); err != nil {
				t.Errorf("the event was not stored: %v", err)
			}
		})
	}
	replicas.Wait()
	if names := namesIn(t, folder); len(names) != 1 || names[0] != "one.json" {
		t.Errorf("the folder contains %v", names)
	}
	replayed, failed, err := events.NewDeadLetterFiles(folder).Replay(
		context.Background(), nil, func(context.Context, events.Event) error { return nil },
	)
	if replayed != 1 || failed != 0 || err != nil {
		t.Errorf("%d events were replayed and %d failed: %v", replayed, failed, err)
	}
}

func TestTheDraftOfAKilledProcessIsNoDeadLetter(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "one.json.123.draft"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if count, err := events.NewDeadLetterFiles(folder).Count(); count != 0 || err != nil {
		t.Errorf("%d events are counted: %v", count, err)
	}
}

// Storing is retried, and each attempt would leave another draft.
func TestALetterThatCannotBeWrittenLeavesNoDraft(t *testing.T) {
	folder := t.TempDir()
	// The draft cannot replace a folder.
	if err := os.MkdirAll(filepath.Join(folder, "one.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := events.NewDeadLetterFiles(folder).Store(context.Background(), failedEvent); err == nil {
		t.Error("the event was stored")
	}
	if names := namesIn(t, folder); len(names) != 1 {
		t.Errorf("the folder contains %v", names)
	}
}
