package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Event is one change, in the form of CloudEvents 1.0.
type Event struct {
	// ID is unique. A repeated delivery has the same ID.
	ID string
	// Type is "statehouse.<service>.<noun>.<verb>.v1".
	Type string
	// OrganizationID is the organization to which the changed object belongs; empty for objects of the installation.
	OrganizationID string
	// Source is the installation and the service that owns the changed object.
	Source string
	// Subject is the id of the changed object.
	Subject string
	// Revision grows with each change of the object. Apply the event only if the object's stored revision is lower.
	Revision uint64
	// Time is when the change was recorded.
	Time time.Time
	// Traceparent is the trace of the request that made the change; empty if there was none.
	Traceparent string
	// Auth is who made the change; nil if unknown.
	Auth *AuthContext
	// JSON is the message. Decode parses it.
	JSON []byte
	// Listed is true if the event comes from the listing: it then describes an existing object and not a change.
	Listed bool
}

// AuthContext is who caused an event, in the form of the extension "auth context" of CloudEvents.
type AuthContext struct {
	// Type is the kind of principal: user, api_key, service_account, system or unknown.
	Type string `json:"type"`
	// ID is the id of the principal; empty if unknown.
	ID string `json:"id"`
}

// Message is the content of an event.
type Message interface {
	// EventType returns the type of the event.
	EventType() string
}

// Handler processes the events of one type.
type Handler struct {
	Type string
	// Handle must apply the event only if the object's stored revision is lower. The event is acknowledged if
	// Handle returns nil.
	Handle func(ctx context.Context, event Event) error
}

// On returns a handler whose function receives the decoded message.
func On[M Message](handle func(ctx context.Context, message M, event Event) error) Handler {
	var message M
	return Handler{
		Type: message.EventType(),
		Handle: func(ctx context.Context, event Event) error {
			message, err := Decode[M](event)
			if err != nil {
				return err
			}
			return handle(ctx, message, event)
		},
	}
}

// Decode parses the message of an event. Unknown fields, which later releases may add, are ignored.
func Decode[M Message](event Event) (M, error) {
	var message M
	if err := json.Unmarshal(event.JSON, &message); err != nil {
		return message, fmt.Errorf("the message of %s cannot be read: %w", event.Type, err)
	}
	return message, nil
}

// installation is the last part of the subject of events that belong to no organization.
const installation = "_"

var subjectForm = regexp.MustCompile(`^(.+\.v\d+)\.([^.]+)$`)

const (
	// maxRevision is the highest number that all languages and databases represent exactly.
	maxRevision = 1<<53 - 1
	maxYear     = 9999
)

// withoutNUL replaces NUL, which PostgreSQL cannot store in a text.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// eventFrom reads an event from a message of the stream. Every field of the event can be stored in a database, because
// a forged event that cannot be stored as a dead letter would be delivered again without end. The type is read from the
// subject and not from a header, because NATS permits each user to publish only to certain subjects.
func eventFrom(subject string, header func(string) string, data []byte, received time.Time) Event {
	value := func(name string) string { return withoutNUL(decodeHeader(header(name))) }
	event := Event{
		ID:          value("ce-id"),
		Type:        subject,
		Source:      value("ce-source"),
		Subject:     value("ce-subject"),
		Time:        received.UTC(),
		Traceparent: value("ce-traceparent"),
		JSON:        []byte(withoutNUL(strings.ToValidUTF8(string(data), "\uFFFD"))),
	}
	if parts := subjectForm.FindStringSubmatch(subject); parts != nil {
		event.Type = parts[1]
		if parts[2] != installation {
			event.OrganizationID = parts[2]
		}
	}
	if revision, err := strconv.ParseUint(value("ce-sequence"), 10, 64); err == nil && revision <= maxRevision {
		event.Revision = revision
	}
	recorded, err := time.Parse(time.RFC3339Nano, value("ce-time"))
	if err == nil && recorded.Unix() >= 0 && recorded.UTC().Year() <= maxYear {
		event.Time = recorded.UTC()
	}
	if kind := value("ce-authtype"); kind != "" {
		event.Auth = &AuthContext{Type: kind, ID: value("ce-authid")}
	}
	return event
}

var escaped = regexp.MustCompile(`(?s)\\(.)`)

// decodeHeader decodes the value of a header, which CloudEvents encodes with percent signs.
func decodeHeader(value string) string {
	if len(value) > 1 && strings.HasPrefix(value, `"`) && strings.HasSuffix(value, `"`) {
		value = escaped.ReplaceAllString(value[1:len(value)-1], "$1")
	}
	if decoded, err := url.PathUnescape(value); err == nil {
		return decoded
	}
	return value
}

// reaches returns whether some subject of this event type matches the filter, which can contain the wildcards of NATS.
func reaches(filter, eventType string) bool {
	wanted := strings.Split(filter, ".")
	tokens := append(strings.Split(eventType, "."), "*")
	if wanted[len(wanted)-1] == ">" {
		wanted = wanted[:len(wanted)-1]
		if len(tokens) <= len(wanted) {
			return false
		}
	} else if len(wanted) != len(tokens) {
		return false
	}
	for index, token := range wanted {
		if token != "*" && tokens[index] != "*" && token != tokens[index] {
			return false
		}
	}
	return true
}

const mailSubjects = "statehouse-mail."

// streamOf returns the stream that contains the subjects of an event type or a filter.
func streamOf(subject string) string {
	if strings.HasPrefix(subject, mailSubjects) {
		return "STATEHOUSE_MAIL"
	}
	return "STATEHOUSE"
}
