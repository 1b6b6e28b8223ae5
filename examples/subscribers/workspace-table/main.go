// Command workspace-table keeps a table of all workspaces and their locks in PostgreSQL, from the events of Statehouse.
// README.md lists the settings.
//
//	workspace-table          receives events
//	workspace-table replay   applies the dead letters again
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	events "statehouse.example/events"
)

//go:embed schema.sql
var schema string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("workspace table ended", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	database, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer database.Close()
	if _, err := database.Exec(ctx, schema); err != nil {
		return err
	}
	table := workspaces{database}
	deadLetters := events.NewDeadLetterFiles(or("DEAD_LETTERS", "dead-letters"))
	if len(os.Args) > 1 && os.Args[1] == "replay" {
		replayed, failed, err := deadLetters.Replay(ctx, table.handlers(), nil)
		slog.Info("dead letters replayed", "replayed", replayed, "failed", failed)
		if err == nil && failed > 0 {
			err = fmt.Errorf("%d dead letters failed again", failed)
		}
		return err
	}
	options := events.ClientOptions{
		URL: os.Getenv("NATS_URL"), Name: "workspace-table", Domain: os.Getenv("NATS_DOMAIN"),
	}
	if file := os.Getenv("NATS_NKEY_SEED_FILE"); file != "" {
		options.Login = events.NkeySeedFile(file)
	}
	if file := os.Getenv("NATS_CA_FILE"); file != "" {
		options.TLS = &events.TLS{CAFile: file}
	}
	client := events.NewClient(options)
	defer client.Close()
	durable := or("DURABLE", "workspace-table")
	var snapshot *events.Snapshot
	if os.Getenv("SNAPSHOT") == "on" {
		snapshot = &events.Snapshot{Checkpoint: checkpoints{database, durable}, Begin: table.begin}
	}
	return client.Subscribe(ctx, events.Subscription{
		Durable:     durable,
		Snapshot:    snapshot,
		Filter:      or("FILTER", "statehouse.workspaces.workspace.>"),
		Handlers:    table.handlers(),
		IsTransient: isTransient,
		DeadLetter:  deadLetters.Store,
	})
}

func or(setting, fallback string) string {
	if value := os.Getenv(setting); value != "" {
		return value
	}
	return fallback
}

// isTransient returns whether an error is temporary. It returns false if the event is the cause: for a message that
// names no workspace, and for errors that the database reports, except errors of the classes below.
func isTransient(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return !errors.Is(err, errMessage)
	}
	// SQLSTATE classes of temporary errors: 08 connections, 40 conflicts of transactions, 53 resources, 57 shutdown.
	class := refused.Code[:2]
	return class == "08" || class == "40" || class == "53" || class == "57"
}

var errMessage = errors.New("the message cannot be applied")

// workspaces applies events to the table of workspaces. The row of a deleted workspace stays, without a name, so that
// an older event that arrives later does not create the workspace again.
type workspaces struct{ database *pgxpool.Pool }

func (table workspaces) handlers() []events.Handler {
	return []events.Handler{
		events.On(func(ctx context.Context, message events.WorkspaceCreated, event events.Event) error {
			return table.describe(ctx, event, message.WorkspaceID, message.OrganizationID, message.Name)
		}),
		events.On(func(ctx context.Context, message events.WorkspaceUpdated, event events.Event) error {
			return table.describe(ctx, event, message.WorkspaceID, message.OrganizationID, message.Name)
		}),
		events.On(func(ctx context.Context, message events.WorkspaceLocked, event events.Event) error {
			return table.lock(ctx, event, message.WorkspaceID, message.OrganizationID, &message.HolderID)
		}),
		events.On(func(ctx context.Context, message events.WorkspaceUnlocked, event events.Event) error {
			return table.lock(ctx, event, message.WorkspaceID, message.OrganizationID, nil)
		}),
		events.On(func(ctx context.Context, message events.WorkspaceDeleted, event events.Event) error {
			return table.remove(ctx, event, message.WorkspaceID, message.OrganizationID)
		}),
	}
}

// The events of a workspace set different columns, and after a failure they can arrive in another order. Each group of
// columns therefore has a revision of its own.
const (
	describe = `insert into workspaces (id, organization_id, name, name_revision)
		values (@id, @organization, @value, @revision)
		on conflict (id) do update set name = excluded.name, name_revision = excluded.name_revision
		where workspaces.name_revision < excluded.name_revision and workspaces.deleted_revision is null`
	lock = `insert into workspaces (id, organization_id, locked_by, lock_revision)
		values (@id, @organization, @value, @revision)
		on conflict (id) do update set locked_by = excluded.locked_by, lock_revision = excluded.lock_revision
		where workspaces.lock_revision < excluded.lock_revision and workspaces.deleted_revision is null`
	remove = `insert into workspaces (id, organization_id, deleted_revision)
		values (@id, @organization, @revision)
		on conflict (id) do update set name = null, locked_by = null, deleted_revision = excluded.deleted_revision`
)

func (table workspaces) describe(ctx context.Context, event events.Event, id, organization, name string) error {
	return table.apply(ctx, describe, event, id, organization, &name)
}

func (table workspaces) lock(ctx context.Context, event events.Event, id, organization string, holder *string) error {
	return table.apply(ctx, lock, event, id, organization, holder)
}

func (table workspaces) remove(ctx context.Context, event events.Event, id, organization string) error {
	return table.apply(ctx, remove, event, id, organization, nil)
}

// apply executes a statement. In the same transaction it records that an event has named the workspace, even if the
// statement changed nothing because the event was not newer.
func (table workspaces) apply(ctx context.Context, statement string, event events.Event, id, organization string, value *string) error {
	if id == "" {
		return fmt.Errorf("%w: it names no workspace", errMessage)
	}
	var batch pgx.Batch
	batch.Queue(statement, pgx.NamedArgs{
		"id": id, "organization": organization, "value": value, "revision": int64(event.Revision),
	})
	batch.Queue("update workspaces set named_at = clock_timestamp() where id = $1", id)
	return table.database.SendBatch(ctx, &batch).Close()
}

// begin returns the function that deletes the rows of workspaces that no event has named since begin was called. The
// rows of deleted workspaces remain.
func (table workspaces) begin(ctx context.Context) (func(context.Context) error, error) {
	var since time.Time
	if err := table.database.QueryRow(ctx, "select clock_timestamp()").Scan(&since); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		const statement = "delete from workspaces where named_at < $1 and deleted_revision is null"
		_, err := table.database.Exec(ctx, statement, since)
		return err
	}, nil
}

// checkpoints stores the checkpoint of a consumer in the same database as the table of workspaces: if the table is
// lost, the checkpoint is lost too, and a snapshot fills the table again.
type checkpoints struct {
	database *pgxpool.Pool
	consumer string
}

func (store checkpoints) Load(ctx context.Context) (*events.Checkpoint, error) {
	const statement = "select created, position from checkpoints where consumer = $1"
	var created string
	var position int64
	err := store.database.QueryRow(ctx, statement, store.consumer).Scan(&created, &position)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &events.Checkpoint{Created: created, Position: uint64(position)}, err
}

func (store checkpoints) Save(ctx context.Context, checkpoint events.Checkpoint) error {
	const statement = `insert into checkpoints (consumer, created, position) values ($1, $2, $3)
		on conflict (consumer) do update set created = excluded.created, position = excluded.position`
	_, err := store.database.Exec(ctx, statement, store.consumer, checkpoint.Created, int64(checkpoint.Position))
	return err
}
