// Command conformance is the driver of this package in the conformance suite: it reads a scenario as JSON on standard
// input and prints what it receives as lines of JSON. The suite compares the packages of all languages.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	events "statehouse.example/events"
)

type scenario struct {
	Mode        string
	URL         string
	Login       struct{ User, Password, NkeySeed string }
	TLS         *events.TLS
	Domain      string
	InboxPrefix string
	Durable     string
	Filter      string
	Handled     []string
	Otherwise   bool
	MaxFailures int
	DeadLetters string
	// Fail is how often the handler fails, by event id. Transient contains the ids of the events whose failures are
	// transient.
	Fail      map[string]int
	Transient []string
	// HangOn is the id of the event whose handler never returns, and StopOn that of the event whose handler stops the
	// subscription.
	HangOn, StopOn string
	// Snapshot has the file of the checkpoint.
	Snapshot *struct{ Checkpoint string }
}

var errTransient = errors.New("transient")

func main() {
	var scenario scenario
	if err := json.NewDecoder(os.Stdin).Decode(&scenario); err != nil {
		panic(err)
	}
	if err := run(scenario); err != nil {
		printLine(map[string]any{"refused": err.Error()})
		os.Exit(1)
	}
	printLine(map[string]any{"ended": true})
}

var output sync.Mutex

func printLine(value any) {
	line, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

// driver prints each event, and fails as the scenario says.
type driver struct {
	scenario
	stop      context.CancelFunc
	failures  map[string]int
	revisions map[string]uint64
}

func (driver *driver) handle(event events.Event, message any) error {
	applied := event.Revision > driver.revisions[event.Subject]
	fails := driver.failures[event.ID] < driver.Fail[event.ID]
	line := map[string]any{
		"handled": event.ID, "type": event.Type, "source": event.Source, "subject": event.Subject,
		"revision": fmt.Sprint(event.Revision), "time": event.Time.Format("2006-01-02T15:04:05.000Z07:00"), "applied": applied,
		"failed": fails, "message": message,
	}
	if event.OrganizationID != "" {
		line["organizationId"] = event.OrganizationID
	}
	if event.Traceparent != "" {
		line["traceparent"] = event.Traceparent
	}
	if event.Auth != nil {
		line["auth"] = event.Auth
	}
	if event.Listed {
		line["isListed"] = true
	}
	printLine(line)
	if fails {
		driver.failures[event.ID]++
		if slices.Contains(driver.Transient, event.ID) {
			return errTransient
		}
		return errors.New("cannot")
	}
	if applied {
		driver.revisions[event.Subject] = event.Revision
	}
	switch event.ID {
	case driver.HangOn:
		select {}
	case driver.StopOn:
		driver.stop()
		time.Sleep(200 * time.Millisecond)
		printLine(map[string]any{"finished": event.ID})
	}
	return nil
}

func handlerOf[M events.Message](driver *driver) events.Handler {
	return events.On(func(_ context.Context, message M, event events.Event) error {
		return driver.handle(event, message)
	})
}

func run(scenario scenario) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	driver := &driver{scenario, stop, map[string]int{}, map[string]uint64{}}
	all := []events.Handler{
		handlerOf[events.WorkspaceCreated](driver),
		handlerOf[events.WorkspaceUpdated](driver),
		handlerOf[events.WorkspaceLocked](driver),
		handlerOf[events.WorkspaceUnlocked](driver),
		handlerOf[events.WorkspaceDeleted](driver),
		handlerOf[events.WorkspaceAutoDestroyDue](driver),
		handlerOf[events.DataRetentionPolicySet](driver),
		handlerOf[events.StateVersionProcessed](driver),
		handlerOf[events.UserCreated](driver),
	}
	handlers := slices.DeleteFunc(all, func(handler events.Handler) bool {
		return !slices.Contains(scenario.Handled, handler.Type)
	})
	var otherwise func(context.Context, events.Event) error
	if scenario.Otherwise {
		otherwise = func(_ context.Context, event events.Event) error {
			return driver.handle(event, json.RawMessage(event.JSON))
		}
	}
	files := events.NewDeadLetterFiles(scenario.DeadLetters)
	switch scenario.Mode {
	case "replay":
		replayed, failed, err := files.Replay(ctx, handlers, otherwise)
		if err != nil {
			return err
		}
		left, err := files.Count()
		printLine(map[string]any{"replayed": replayed, "failed": failed, "left": left})
		return err
	case "samples":
		emitter, err := events.NewEmitter(handlers...)
		if err != nil {
			return err
		}
		return emitter.EmitSamples(ctx)
	}
	client := events.NewClient(events.ClientOptions{
		URL: scenario.URL, Name: "conformance", Login: loginOf(scenario), TLS: scenario.TLS,
		Domain: scenario.Domain, InboxPrefix: scenario.InboxPrefix,
	})
	defer client.Close()
	return client.Subscribe(ctx, events.Subscription{
		Durable: scenario.Durable, Filter: scenario.Filter, Handlers: handlers, Otherwise: otherwise,
		DeadLetter: files.Store, MaxFailures: scenario.MaxFailures, Snapshot: snapshotOf(scenario),
		IsTransient: func(err error) bool { return errors.Is(err, errTransient) },
		Logger:      slog.New(slog.NewJSONHandler(logLines{}, &slog.HandlerOptions{ReplaceAttr: nameOf})),
	})
}

func loginOf(scenario scenario) events.Login {
	switch login := scenario.Login; {
	case login.NkeySeed != "":
		return events.NkeySeed(login.NkeySeed)
	case login.User != "":
		return events.UserPassword(login.User, login.Password)
	}
	return nil
}

func snapshotOf(scenario scenario) *events.Snapshot {
	given := scenario.Snapshot
	if given == nil {
		return nil
	}
	return &events.Snapshot{
		Checkpoint:   events.CheckpointFile(given.Checkpoint),
		CompareEvery: 100 * time.Millisecond,
		Begin: func(context.Context) (func(context.Context) error, error) {
			printLine(map[string]any{"snapshot": "begins"})
			return func(context.Context) error {
				printLine(map[string]any{"snapshot": "complete"})
				return nil
			}, nil
		},
	}
}

// logLines prints the log lines on standard output, like the other lines.
type logLines struct{}

func (logLines) Write(line []byte) (int, error) {
	output.Lock()
	defer output.Unlock()
	return os.Stdout.Write(line)
}

func nameOf(_ []string, attribute slog.Attr) slog.Attr {
	switch attribute.Key {
	case slog.LevelKey:
		return slog.String("log", strings.ToLower(attribute.Value.String()))
	case slog.MessageKey:
		return slog.Attr{Key: "message", Value: attribute.Value}
	}
	return attribute
}
