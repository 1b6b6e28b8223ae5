package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Subscription says which events to receive, and how to process them.
type Subscription struct {
	// Durable is the name of the durable consumer: replicas with the same name share the events. It may contain
	// letters, digits, "-" and "_".
	Durable string
	// Filter selects the subjects to receive, with the wildcards of NATS: "statehouse.state.>". With
	// ClientOptions.Domain it must be the granted filter.
	Filter string
	// FromNow makes a new consumer begin at the present instead of the oldest event. It has no effect with
	// ClientOptions.Domain.
	FromNow bool
	// Handlers process events. There can be one for each type.
	Handlers []Handler
	// Otherwise processes events of all other types. If it is nil, they are acknowledged.
	Otherwise func(ctx context.Context, event Event) error
	// DeadLetter stores an event that has failed MaxFailures times, so that it does not delay later events. If storing
	// fails too, the event is retried later. An event for the mail sender is passed without its content, because that
	// contains a secret.
	DeadLetter func(ctx context.Context, failed FailedEvent) error
	// IsTransient returns whether an error is temporary and not caused by the event. Such errors never lead to a dead
	// letter. If it is nil, no error is transient.
	IsTransient func(err error) bool
	// MaxFailures is the number of failures after which an event becomes a dead letter; 0 means 8.
	MaxFailures int
	// Snapshot is how the subscriber reads all existing objects. If it is nil, the subscriber receives only the events
	// that the stream contains.
	Snapshot *Snapshot
	// Logger is slog.Default() if it is nil.
	Logger *slog.Logger
}

// FailedEvent is an event that has failed at least MaxFailures times.
type FailedEvent struct {
	Event    Event
	Consumer string
	Failures int
	Err      error
}

const (
	defaultMaxFailures = 8
	// ackWait is the time after which an event that a killed replica had received is delivered to another replica.
	ackWait           = 15 * time.Second
	stillWorkingEvery = 5 * time.Second
	requestTimeout    = 5 * time.Second
	// maxCauses is the maximum number of different errors that are logged while a subscription is lost.
	maxCauses = 10
)

var durableForm = regexp.MustCompile(`^[\w-]+$`)

// Subscribe receives events one at a time until ctx is done. It then finishes the current event and returns nil. Each
// event is received at least once, and events of one object in order unless one of them failed. While NATS is
// unavailable or Statehouse has not created the stream, Subscribe waits. It returns an error only if the subscription
// is invalid or the client is closed.
//
// The context of handlers is not done when ctx is: a handler that has begun can finish.
func (client *Client) Subscribe(ctx context.Context, subscription Subscription) error {
	run, err := newRun(client, subscription)
	if err != nil {
		return err
	}
	// The errors that were logged since the subscription was lost. The first one can be that the connection was closed,
	// and a later one the reason for that.
	causes := map[string]bool{}
	for ctx.Err() == nil {
		err := run.receive(ctx, func() {
			if len(causes) > 0 {
				run.logger.Info("event subscription resumed")
			}
			clear(causes)
		})
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, errClosed) {
			return err
		}
		if err = client.withRefusal(err); err != nil && !causes[err.Error()] && len(causes) < maxCauses {
			run.logger.Warn("event subscription lost", "error", err)
			causes[err.Error()] = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryDelay):
		}
	}
	client.flush()
	return nil
}

// run is a subscription whose options were checked.
type run struct {
	Subscription
	client   *Client
	handlers map[string]Handler
	logger   *slog.Logger
	// snapshots is nil if the subscription has none.
	snapshots *snapshots
}

func newRun(client *Client, subscription Subscription) (*run, error) {
	if !durableForm.MatchString(subscription.Durable) {
		return nil, fmt.Errorf("the durable name %q is invalid; letters, digits, - and _ are allowed", subscription.Durable)
	}
	if subscription.Filter == "" {
		return nil, errors.New("the filter is missing")
	}
	if subscription.DeadLetter == nil {
		return nil, errors.New("the function DeadLetter is missing")
	}
	if subscription.MaxFailures == 0 {
		subscription.MaxFailures = defaultMaxFailures
	}
	handlers, err := byType(subscription.Handlers)
	if err != nil {
		return nil, err
	}
	var excluded []string
	for eventType := range handlers {
		if !reaches(subscription.Filter, eventType) {
			excluded = append(excluded, eventType)
		}
	}
	if len(excluded) > 0 {
		slices.Sort(excluded)
		return nil, fmt.Errorf("the filter %s excludes the handled events %s", subscription.Filter, strings.Join(excluded, ", "))
	}
	logger := subscription.Logger
	if logger == nil {
		logger = slog.Default()
	}
	run := &run{
		Subscription: subscription, client: client, handlers: handlers, logger: logger.With("consumer", subscription.Durable),
	}
	if subscription.Snapshot == nil {
		return run, nil
	}
	if subscription.FromNow {
		return nil, errors.New("a subscription with snapshots begins with the oldest event, not now")
	}
	run.snapshots, err = newSnapshots(*subscription.Snapshot, client)
	return run, err
}

func byType(handlers []Handler) (map[string]Handler, error) {
	result := make(map[string]Handler, len(handlers))
	for _, handler := range handlers {
		if _, twice := result[handler.Type]; twice {
			return nil, fmt.Errorf("%s has two handlers", handler.Type)
		}
		result[handler.Type] = handler
	}
	return result, nil
}

// receive processes events until ctx is done, a snapshot is necessary or the subscription is lost. It returns an error
// only if the subscription is lost.
func (run *run) receive(ctx context.Context, opened func()) error {
	if run.snapshots != nil {
		if _, err := run.client.connect(); err != nil {
			return err
		}
		if err := run.takeSnapshot(ctx); err != nil {
			return err
		}
	}
	consumer, err := run.open(ctx)
	if err != nil {
		return err
	}
	// No prefetch: if a process is killed, only the event that it was processing is delayed.
	messages, err := consumer.Messages(jetstream.PullMaxMessages(1), jetstream.PullHeartbeat(requestTimeout))
	if err != nil {
		return err
	}
	defer messages.Stop()
	opened()
	if run.snapshots != nil {
		comparing, stop := context.WithCancel(ctx)
		ctx = comparing
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if run.compareRegularly(comparing, consumer) {
				stop()
			}
		}()
		// The next snapshot must not begin before the comparison has ended.
		defer func() { stop(); <-ended }()
	}
	for {
		message, err := messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil && message == nil {
			return nil
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return message.Nak()
		}
		run.process(ctx, message)
	}
}

// open returns the durable consumer. If the client has no domain, open creates the consumer if it is missing, and sets
// its filter if it is not that of the subscription.
func (run *run) open(ctx context.Context) (jetstream.Consumer, error) {
	js, err := run.client.jetStream()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream := streamOf(run.Filter)
	consumer, err := js.Consumer(ctx, stream, run.Durable)
	if run.client.options.Domain == "" {
		consumer, err = run.ensure(ctx, js, stream, consumer, err)
	}
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("the consumer %s cannot be reached: this login does not import it, or NATS has no JetStream: %w", run.Durable, err)
	}
	if err != nil {
		return nil, err
	}
	if filter := consumer.CachedInfo().Config.FilterSubject; filter != run.Filter {
		return nil, fmt.Errorf("the consumer %s has the filter %s; this subscription needs the filter %s", run.Durable, filter, run.Filter)
	}
	return consumer, nil
}

func (run *run) ensure(ctx context.Context, js jetstream.JetStream, stream string, found jetstream.Consumer, err error) (jetstream.Consumer, error) {
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		from := jetstream.DeliverAllPolicy
		if run.FromNow {
			from = jetstream.DeliverNewPolicy
		}
		return js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
			Durable:       run.Durable,
			Description:   "events for " + run.Durable,
			FilterSubject: run.Filter,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       ackWait,
			MaxDeliver:    -1,
			DeliverPolicy: from,
		})
	}
	if err != nil {
		return nil, err
	}
	config := found.CachedInfo().Config
	if config.FilterSubject == run.Filter {
		return found, nil
	}
	config.FilterSubject = run.Filter
	config.FilterSubjects = nil
	return js.UpdateConsumer(ctx, stream, config)
}

// process calls the handler and acknowledges the event. If the handler fails, process returns the event to the stream
// or stores it as a dead letter.
func (run *run) process(ctx context.Context, message jetstream.Msg) {
	metadata, err := message.Metadata()
	if err != nil {
		run.logger.Error("message does not come from a stream", "error", err)
		return
	}
	event := eventFrom(message.Subject(), message.Headers().Get, message.Data(), metadata.Timestamp)
	handle := run.handlerOf(event)
	if handle == nil {
		run.acknowledge(message)
		return
	}
	ctx = context.WithoutCancel(ctx)
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(stillWorkingEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = message.InProgress()
			case <-done:
				return
			}
		}
	}()
	defer close(done)
	if err := call(ctx, handle, event); err != nil {
		run.failed(ctx, message, FailedEvent{event, run.Durable, int(metadata.NumDelivered), err})
		return
	}
	run.acknowledge(message)
}

// handlerOf returns the handler for the type of the event or, if there is none, Otherwise, which can be nil.
func (run *run) handlerOf(event Event) func(context.Context, Event) error {
	if handler, found := run.handlers[event.Type]; found {
		return handler.Handle
	}
	return run.Otherwise
}

// call turns a panic of a handler into an error, so that one event does not end the process again and again.
func call(ctx context.Context, handle func(context.Context, Event) error, event Event) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	return handle(ctx, event)
}

// failed returns an event to the stream with a growing delay, or stores it as a dead letter.
func (run *run) failed(ctx context.Context, message jetstream.Msg, failed FailedEvent) {
	logger := run.logger.With("event", failed.Event.ID, "type", failed.Event.Type, "failures", failed.Failures)
	if !run.isFinal(failed) {
		logger.Warn("event processing failed; it is delivered again", "error", failed.Err)
	} else {
		stored := failed
		if strings.HasPrefix(failed.Event.Type, mailSubjects) {
			stored.Event.JSON = []byte("{}")
		}
		err := run.DeadLetter(ctx, stored)
		if err == nil {
			logger.Error("event stored as dead letter", "error", failed.Err)
			run.acknowledge(message)
			return
		}
		logger.Warn("dead letter not stored", "error", err)
	}
	if err := message.NakWithDelay(delayAfter(failed.Failures)); err != nil {
		logger.Warn("event not returned to the stream; it is delivered again later", "error", err)
	}
}

// isFinal returns whether the event becomes a dead letter.
func (run *run) isFinal(failed FailedEvent) bool {
	return failed.Failures >= run.MaxFailures && (run.IsTransient == nil || !run.IsTransient(failed.Err))
}

// delayAfter returns the time until the next attempt.
func delayAfter(failures int) time.Duration {
	return min(30*time.Second, 100*time.Millisecond<<min(failures, 10))
}

func (run *run) acknowledge(message jetstream.Msg) {
	if err := message.Ack(); err != nil {
		run.logger.Warn("event not acknowledged; it is delivered again", "error", err)
	}
}
