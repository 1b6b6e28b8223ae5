package events

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

//go:embed samples.json
var samplesJSON []byte

// Emitter calls handlers with events as Statehouse publishes them, for tests without Statehouse and NATS.
type Emitter struct {
	handlers map[string]Handler
	last     uint64
}

// Details replace the defaults of an emitted event. Fields with a zero value have no effect.
type Details struct {
	// Revision is by default higher than that of every earlier event.
	Revision uint64
	// Subject is the id of the changed object; by default the first field of the message.
	Subject string
	Time    time.Time
	Auth    *AuthContext
}

// NewEmitter creates an emitter for the handlers of a subscription.
func NewEmitter(handlers ...Handler) (*Emitter, error) {
	known, err := byType(handlers)
	return &Emitter{handlers: known}, err
}

// Emit calls the handler for the message's type and returns the event, with the handler's error. The message gets the
// revision of the event.
func (emitter *Emitter) Emit(ctx context.Context, message Message, details Details) (Event, error) {
	if details.Revision == 0 {
		details.Revision = emitter.last + 1
	}
	emitter.last = max(emitter.last, details.Revision)
	fields := reflect.New(reflect.TypeOf(message)).Elem()
	fields.Set(reflect.ValueOf(message))
	if revision := fields.FieldByName("Revision"); revision.IsValid() {
		revision.SetUint(details.Revision)
	}
	content, err := json.Marshal(fields.Interface())
	if err != nil {
		return Event{}, err
	}
	var inside struct{ OrganizationID string }
	if err := json.Unmarshal(content, &inside); err != nil {
		return Event{}, err
	}
	if details.Subject == "" {
		details.Subject = fmt.Sprint(fields.Field(0).Interface())
	}
	if details.Time.IsZero() {
		details.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	if details.Auth == nil {
		details.Auth = &AuthContext{Type: "user", ID: "user-emitted"}
	}
	eventType := message.EventType()
	event := Event{
		ID:             rand.Text(),
		Type:           eventType,
		OrganizationID: inside.OrganizationID,
		Source:         "urn:statehouse:default/" + strings.Split(eventType, ".")[1],
		Subject:        details.Subject,
		Revision:       details.Revision,
		Time:           details.Time,
		Auth:           details.Auth,
		JSON:           content,
	}
	return event, emitter.Deliver(ctx, event)
}

// Deliver calls the handler again with an earlier event: a repeated delivery, or a delivery after a newer event.
func (emitter *Emitter) Deliver(ctx context.Context, event Event) error {
	handler, found := emitter.handlers[event.Type]
	if !found {
		return fmt.Errorf("there is no handler for %s", event.Type)
	}
	return handler.Handle(ctx, event)
}

// EmitSamples calls each handler with the sample of its event in the catalog.
func (emitter *Emitter) EmitSamples(ctx context.Context) error {
	samples, err := Samples()
	if err != nil {
		return err
	}
	var failures []error
	for _, event := range samples {
		if handler, found := emitter.handlers[event.Type]; found {
			if err := handler.Handle(ctx, event); err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", event.Type, err))
			}
		}
	}
	return errors.Join(failures...)
}

// Samples returns the sample of every event in the catalog, ordered by type.
func Samples() ([]Event, error) {
	var catalog map[string]struct {
		Subject string
		Headers map[string]string
		Payload json.RawMessage
	}
	if err := json.Unmarshal(samplesJSON, &catalog); err != nil {
		return nil, err
	}
	var samples []Event
	for _, sample := range catalog {
		header := func(name string) string { return sample.Headers[name] }
		samples = append(samples, eventFrom(sample.Subject, header, sample.Payload, time.Time{}))
	}
	slices.SortFunc(samples, func(one, other Event) int { return cmp.Compare(one.Type, other.Type) })
	return samples, nil
}
