package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// streamState is the identity of the event stream and the range of sequence numbers that the stream contains.
type streamState struct {
	// Created differs if the stream was deleted and created again.
	Created       string `json:"created"`
	FirstSequence uint64 `json:"firstSequence"`
	LastSequence  uint64 `json:"lastSequence"`
}

// pagePosition is where a page of the listing begins. Each page contains the position of the next one.
type pagePosition struct {
	Service string `json:"service"`
	// Cursor is empty for the first page of the service.
	Cursor string `json:"cursor"`
}

// page is a page of the listing.
type page struct {
	Events []listedEvent `json:"events"`
	// Next is nil if the page is the last one.
	Next *pagePosition `json:"next"`
}

// listing reads all existing objects, as events.
type listing struct{ client *Client }

const (
	listingSubject = "statehouse-listing"
	firstService   = "access"
	listingTimeout = 15 * time.Second
)

func (listing *listing) stream(ctx context.Context) (state streamState, err error) {
	return state, listing.request(ctx, "stream", struct{}{}, &state)
}

// objects calls handle with the events of all objects whose subjects match the filter, page by page.
func (listing *listing) objects(ctx context.Context, filter string, handle func(Event) error) error {
	for position := (&pagePosition{Service: firstService}); position != nil; {
		var page page
		request := map[string]string{"filter": filter, "cursor": position.Cursor}
		if err := listing.request(ctx, position.Service, request, &page); err != nil {
			return err
		}
		for _, listed := range page.Events {
			event, err := listed.event()
			if err != nil {
				return err
			}
			if err := handle(event); err != nil {
				return err
			}
		}
		position = page.Next
	}
	return nil
}

// request sends a request over NATS, and stores the content of the response in response.
func (listing *listing) request(ctx context.Context, name string, body, response any) error {
	ctx, cancel := context.WithTimeout(ctx, listingTimeout)
	defer cancel()
	connection, err := listing.client.connect()
	if err != nil {
		return err
	}
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	subject := listingSubject + "." + name
	reply, err := connection.RequestWithContext(ctx, subject, content)
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("the listing cannot be reached at %s: this login does not import it, or Statehouse does not run", subject)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	var refusal struct {
		Error string `json:"error"`
	}
	if err := errors.Join(json.Unmarshal(reply.Data, &refusal), json.Unmarshal(reply.Data, response)); err != nil {
		return fmt.Errorf("the response of %s cannot be read: %w", subject, err)
	}
	if refusal.Error != "" {
		return fmt.Errorf("%s responded: %s", subject, refusal.Error)
	}
	return nil
}

// listedEvent is an event in the JSON format of CloudEvents.
type listedEvent struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Source       string          `json:"source"`
	Subject      string          `json:"subject"`
	Time         time.Time       `json:"time"`
	Sequence     string          `json:"sequence"`
	Organization string          `json:"organization"`
	Data         json.RawMessage `json:"data"`
}

func (listed listedEvent) event() (Event, error) {
	revision, err := strconv.ParseUint(listed.Sequence, 10, 64)
	if err != nil {
		return Event{}, fmt.Errorf("an event of the listing has no revision: %w", err)
	}
	return Event{
		ID:             listed.ID,
		Type:           listed.Type,
		OrganizationID: listed.Organization,
		Source:         listed.Source,
		Subject:        listed.Subject,
		Revision:       revision,
		Time:           listed.Time.UTC(),
		JSON:           listed.Data,
		Listed:         true,
	}, nil
}
