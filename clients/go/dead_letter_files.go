package events

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DeadLetterFiles stores each dead letter of one subscription in a file of a folder. The packages of all languages use
// the same file format. Replicas can share a folder.
type DeadLetterFiles struct{ folder string }

// NewDeadLetterFiles stores dead letters in a folder, which is created when the first dead letter is stored.
func NewDeadLetterFiles(folder string) *DeadLetterFiles { return &DeadLetterFiles{folder} }

// storedEvent is the content of a file.
type storedEvent struct {
	Event    storedChange `json:"event"`
	Consumer string       `json:"consumer"`
	Failures int          `json:"failures"`
	Error    string       `json:"error"`

	name string
}

type storedChange struct {
	ID             string       `json:"id"`
	Type           string       `json:"type"`
	OrganizationID string       `json:"organizationId,omitempty"`
	Source         string       `json:"source"`
	Subject        string       `json:"subject"`
	Revision       uint64       `json:"revision"`
	Time           timeInFile   `json:"time"`
	Traceparent    string       `json:"traceparent,omitempty"`
	Auth           *AuthContext `json:"auth,omitempty"`
	JSON           string       `json:"json"`
	Listed         bool         `json:"isListed,omitempty"`
}

// timeInFile is written with milliseconds, as by the packages of all languages.
type timeInFile struct{ time.Time }

func (of timeInFile) MarshalJSON() ([]byte, error) {
	return of.AppendFormat(nil, `"2006-01-02T15:04:05.000Z07:00"`), nil
}

const (
	extension      = ".json"
	maxErrorLength = 1000
	// maxNameLength is the maximum length of a file's name without its extension. File systems allow 255 bytes, and
	// writeDurably first creates a draft, whose name is longer.
	maxNameLength = 200
)

// Store is the function for Subscription.DeadLetter. An event that is stored again replaces its file.
func (files *DeadLetterFiles) Store(_ context.Context, failed FailedEvent) error {
	event := failed.Event
	return files.write(nameOf(event), storedEvent{
		Event: storedChange{
			event.ID, event.Type, event.OrganizationID, event.Source, event.Subject, event.Revision,
			timeInFile{event.Time.UTC()}, event.Traceparent, event.Auth, string(event.JSON), event.Listed,
		},
		Consumer: failed.Consumer,
		Failures: failed.Failures,
		Error:    describe(failed.Err),
	})
}

// Count returns the number of stored events, for an alert.
func (files *DeadLetterFiles) Count() (int, error) {
	names, err := files.names()
	return len(names), err
}

// Replay calls the handlers with the stored events, oldest first, and deletes each event whose handler succeeds. An
// event that fails again stays, with the new error. A file that cannot be read also stays and counts as failed.
// otherwise processes events of types without a handler; it can be nil.
func (files *DeadLetterFiles) Replay(
	ctx context.Context,
	handlers []Handler,
	otherwise func(ctx context.Context, event Event) error,
) (replayed, failed int, err error) {
	known, err := byType(handlers)
	if err != nil {
		return 0, 0, err
	}
	all, failed, err := files.read()
	if err != nil {
		return 0, 0, err
	}
	for _, stored := range all {
		handle := otherwise
		if handler, found := known[stored.Event.Type]; found {
			handle = handler.Handle
		}
		failure := fmt.Errorf("there is no handler for %s", stored.Event.Type)
		if handle != nil {
			failure = call(ctx, handle, stored.event())
		}
		if failure == nil {
			replayed++
			if err := os.Remove(filepath.Join(files.folder, stored.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return replayed, failed, err
			}
			continue
		}
		failed++
		stored.Failures++
		stored.Error = describe(failure)
		if err := files.write(stored.name, stored); err != nil {
			return replayed, failed, err
		}
	}
	return replayed, failed, nil
}

func (stored storedEvent) event() Event {
	of := stored.Event
	return Event{
		of.ID, of.Type, of.OrganizationID, of.Source, of.Subject, of.Revision, of.Time.Time, of.Traceparent, of.Auth,
		[]byte(of.JSON), of.Listed,
	}
}

// read returns the stored events, and the number of files that cannot be read. Events of one object are ordered by
// revision, and events of different objects by time.
func (files *DeadLetterFiles) read() (all []storedEvent, unreadable int, err error) {
	names, err := files.names()
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		stored := storedEvent{name: name}
		content, err := os.ReadFile(filepath.Join(files.folder, name))
		if err != nil || json.Unmarshal(content, &stored) != nil {
			unreadable++
			continue
		}
		all = append(all, stored)
	}
	slices.SortStableFunc(all, func(one, other storedEvent) int {
		if one.Event.Subject == other.Event.Subject {
			return cmp.Compare(one.Event.Revision, other.Event.Revision)
		}
		return one.Event.Time.Compare(other.Event.Time.Time)
	})
	return all, unreadable, nil
}

func (files *DeadLetterFiles) names() ([]string, error) {
	entries, err := os.ReadDir(files.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), extension) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// nameOf returns the name of the file of an event: the event's id, or a digest of the event if the id is empty or too
// long, which happens only if the publisher was not Statehouse. The packages of all languages compute the same name.
func nameOf(event Event) string {
	name := escapeName(event.ID)
	if name == "" || len(name) > maxNameLength {
		content := fmt.Sprintf("%s\x00%s\x00%s\x00%d\x00%s", event.ID, event.Type, event.Subject, event.Revision, event.JSON)
		name = fmt.Sprintf("sha256-%x", sha256.Sum256([]byte(content)))
	}
	return name + extension
}

// write stores an event on the disk before it returns, because the event is acknowledged afterwards.
func (files *DeadLetterFiles) write(name string, stored storedEvent) error {
	if err := os.MkdirAll(files.folder, 0o700); err != nil {
		return err
	}
	content, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	return writeDurably(filepath.Join(files.folder, name), append(content, '\n'))
}

// escapeName encodes the characters that a file name must not contain.
func escapeName(id string) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
	var result strings.Builder
	for _, character := range []byte(id) {
		if strings.IndexByte(safe, character) >= 0 {
			result.WriteByte(character)
		} else {
			fmt.Fprintf(&result, "%%%02X", character)
		}
	}
	return result.String()
}

func describe(err error) string {
	characters := []rune(err.Error())
	return string(characters[:min(len(characters), maxErrorLength)])
}
