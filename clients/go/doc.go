// Package events receives the events of Statehouse from NATS JetStream.
//
// A [Client] connects to NATS. [Client.Subscribe] receives events through a durable consumer, one at a time, calls a
// handler for each, and acknowledges it when the handler returns nil. An event whose handler fails is delivered again
// with growing delays; after MaxFailures failures it becomes a dead letter, so that it does not delay later events.
//
//	client := events.NewClient(events.ClientOptions{
//		URL:    "nats://127.0.0.1:4222",
//		Name:   "billing",
//		Login:  events.NkeySeedFile("/run/secrets/nats"),
//		Domain: "statehouse",
//	})
//	defer client.Close()
//	err := client.Subscribe(ctx, events.Subscription{
//		Durable: "billing",
//		Filter:  "statehouse.workspaces.workspace.>",
//		Handlers: []events.Handler{
//			events.On(func(ctx context.Context, message events.WorkspaceLocked, event events.Event) error {
//				return applyIfNewer(ctx, message.WorkspaceID, event.Revision)
//			}),
//		},
//		DeadLetter: events.NewDeadLetterFiles("/var/lib/billing/dead-letters").Store,
//	})
//
// An event can be delivered twice, and after a failure an older event can follow a newer one. A handler therefore
// stores the event's revision with its data and ignores events whose revision is not higher.
//
// With a [Snapshot] the subscriber reads all existing objects, as events, before it receives the first event, and again
// when the stream was lost or has deleted events that the subscriber had not received.
//
// The messages of all events, such as [WorkspaceLocked], are generated from the definitions of Statehouse. An [Emitter]
// calls handlers in tests, without Statehouse and NATS.
package events
