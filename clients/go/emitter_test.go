package events_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	events "statehouse.example/events"
)

// A handler that ignores events whose revision is not higher than that of the last applied event of the workspace.
func ExampleEmitter() {
	revisions := map[string]uint64{}
	apply := func(_ context.Context, message events.WorkspaceLocked, event events.Event) error {
		if event.Revision > revisions[message.WorkspaceID] {
			revisions[message.WorkspaceID] = event.Revision
			fmt.Println(message.WorkspaceID, "is locked by", message.HolderID)
		}
		return nil
	}
	ctx := context.Background()
	emitter, _ := events.NewEmitter(events.On(apply))
	locked, _ := emitter.Emit(ctx, events.WorkspaceLocked{WorkspaceID: "ws-1", HolderID: "user-1"}, events.Details{})
	_, _ = emitter.Emit(ctx, events.WorkspaceLocked{WorkspaceID: "ws-1", HolderID: "user-2"}, events.Details{})
	_ = emitter.Deliver(ctx, locked) // late and repeated
	// Output:
	// ws-1 is locked by user-1
	// ws-1 is locked by user-2
}

func TestEmitterGivesWhatStatehousePublishes(t *testing.T) {
	emitter, err := events.NewEmitter(events.On(func(_ context.Context, message events.WorkspaceDeleted, event events.Event) error {
		if message.Revision != event.Revision || event.OrganizationID != "org-1" || event.Subject != "ws-1" {
			t.Errorf("unexpected %+v of %+v", message, event)
		}
		return errors.New("cannot")
	}))
	if err != nil {
		t.Fatal(err)
	}
	message := events.WorkspaceDeleted{WorkspaceID: "ws-1", OrganizationID: "org-1"}
	event, err := emitter.Emit(context.Background(), message, events.Details{Revision: 7})
	if err == nil || err.Error() != "cannot" {
		t.Errorf("the error is %v", err)
	}
	if string(event.JSON) != `{"workspaceId":"ws-1","organizationId":"org-1","revision":"7"}` {
		t.Errorf("the message is %s", event.JSON)
	}
	if _, err := emitter.Emit(context.Background(), events.UserDeleted{}, events.Details{}); err == nil {
		t.Error("an event without a handler was accepted")
	}
}

func TestInvalidSubscriptionsAreRefused(t *testing.T) {
	client := events.NewClient(events.ClientOptions{URL: "nats://127.0.0.1:1"})
	handler := events.On(func(context.Context, events.UserDeleted, events.Event) error { return nil })
	valid := events.Subscription{
		Durable: "one", Filter: "statehouse.access.user.*.v1._", Handlers: []events.Handler{handler},
		DeadLetter: events.NewDeadLetterFiles(t.TempDir()).Store,
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := client.Subscribe(stopped, valid); err != nil {
		t.Errorf("a valid subscription was refused: %v", err)
	}
	for problem, change := range map[string]func(*events.Subscription){
		"durable name":      func(s *events.Subscription) { s.Durable = "a.b" },
		"filter is missing": func(s *events.Subscription) { s.Filter = "" },
		"excludes":          func(s *events.Subscription) { s.Filter = "statehouse.state.>" },
		"two handlers":      func(s *events.Subscription) { s.Handlers = append(s.Handlers, handler) },
		"DeadLetter":        func(s *events.Subscription) { s.DeadLetter = nil },
		"not now": func(s *events.Subscription) {
			s.Snapshot = &events.Snapshot{}
			s.FromNow = true
		},
		"Checkpoint of the snapshot": func(s *events.Subscription) { s.Snapshot = &events.Snapshot{} },
	} {
		invalid := valid
		change(&invalid)
		if err := client.Subscribe(stopped, invalid); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("expected %q: %v", problem, err)
		}
	}
}
