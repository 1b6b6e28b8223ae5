package events

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// ClientOptions are the address of NATS and the credentials.
type ClientOptions struct {
	// URL is one address, or several separated by commas: "nats://127.0.0.1:4222".
	URL string
	// Name of the connection, which the server shows to operators.
	Name string
	// Login authenticates the client; nil for a server without users.
	Login Login
	// TLS must be set, even to &TLS{}, if the connection must be encrypted.
	TLS *TLS
	// Domain is the JetStream domain through which this login reaches its durable consumer, if another account owns the
	// consumer: "statehouse" for an account that "statehouse keys" created. It is empty if the streams are in the login's
	// account.
	Domain string
	// InboxPrefix is the first part of the subjects on which the client receives responses and events. The default is
	// _INBOX.
	InboxPrefix string
}

// Login returns the options with which a client authenticates. It is called for each new connection, so that changed
// files are read again.
type Login func() ([]nats.Option, error)

// UserPassword authenticates with a user and a password.
func UserPassword(user, password string) Login {
	return func() ([]nats.Option, error) { return []nats.Option{nats.UserInfo(user, password)}, nil }
}

// PasswordFile authenticates with a user and the password in a file.
func PasswordFile(user, file string) Login {
	return fromFile(file, func(password string) Login { return UserPassword(user, password) })
}

// Token authenticates with a token.
func Token(token string) Login {
	return func() ([]nats.Option, error) { return []nats.Option{nats.Token(token)}, nil }
}

// TokenFile authenticates with the token in a file.
func TokenFile(file string) Login { return fromFile(file, Token) }

// NkeySeed authenticates with the seed of an nkey, "SU…".
func NkeySeed(seed string) Login {
	return func() ([]nats.Option, error) {
		pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(seed)))
		if err != nil {
			return nil, fmt.Errorf("the seed of the nkey is invalid: %w", err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, fmt.Errorf("the seed of the nkey is invalid: %w", err)
		}
		return []nats.Option{nats.Nkey(public, pair.Sign)}, nil
	}
}

// NkeySeedFile authenticates with the seed of an nkey in a file.
func NkeySeedFile(file string) Login { return fromFile(file, NkeySeed) }

// CredentialsFile authenticates with a file that contains a JWT and a seed, in the form that the NATS tool nsc writes.
func CredentialsFile(file string) Login {
	return func() ([]nats.Option, error) { return []nats.Option{nats.UserCredentials(file)}, nil }
}

func fromFile(file string, login func(string) Login) Login {
	return func() ([]nats.Option, error) {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return login(strings.TrimSpace(string(content)))()
	}
}

// TLS encrypts the connection. A server without TLS is then refused. The files are PEM and are read for each
// connection.
type TLS struct {
	// CAFile contains the authorities that are trusted to sign the server's certificate. If it is empty, the
	// authorities of the machine are trusted.
	CAFile string
	// CertFile and KeyFile are the certificate of the client and its key.
	CertFile, KeyFile string
}

func (files TLS) options() []nats.Option {
	var readCertificate nats.TLSCertHandler
	var readAuthorities nats.RootCAsHandler
	if files.CertFile != "" {
		readCertificate = func() (tls.Certificate, error) {
			return tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
		}
	}
	if files.CAFile != "" {
		readAuthorities = func() (*x509.CertPool, error) {
			authorities, err := os.ReadFile(files.CAFile)
			if err != nil {
				return nil, err
			}
			pool := x509.NewCertPool()
			if !pool.AppendCertsFromPEM(authorities) {
				return nil, fmt.Errorf("%s contains no certificate", files.CAFile)
			}
			return pool, nil
		}
	}
	options := []nats.Option{nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12})}
	if readCertificate != nil || readAuthorities != nil {
		options = append(options, nats.ClientTLSConfig(readCertificate, readAuthorities))
	}
	return options
}

// Client connects to NATS when it is used, and again when the connection is lost.
type Client struct {
	options ClientOptions

	mutex      sync.Mutex
	connection *nats.Conn
	closed     bool
	// refused is the last permission that the server refused.
	refused error
}

// NewClient creates a client, which connects when it is used.
func NewClient(options ClientOptions) *Client { return &Client{options: options} }

// Close closes the connection.
func (client *Client) Close() {
	client.mutex.Lock()
	defer client.mutex.Unlock()
	client.closed = true
	if client.connection != nil {
		client.connection.Close()
	}
}

var errClosed = errors.New("the client is closed")

const (
	connectTimeout = 2 * time.Second
	retryDelay     = 500 * time.Millisecond
)

// connect returns the open connection, or opens one. A connection that the server closed because it no longer accepts
// the login is replaced by a connection with the current credentials.
func (client *Client) connect() (*nats.Conn, error) {
	client.mutex.Lock()
	defer client.mutex.Unlock()
	if client.closed {
		return nil, errClosed
	}
	if client.connection != nil && !client.connection.IsClosed() {
		return client.connection, nil
	}
	options := []nats.Option{
		nats.Name(client.options.Name),
		nats.Timeout(connectTimeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(retryDelay),
		nats.PingInterval(20 * time.Second),
		nats.ErrorHandler(client.onError),
	}
	if client.options.InboxPrefix != "" {
		options = append(options, nats.CustomInboxPrefix(client.options.InboxPrefix))
	}
	if client.options.Login != nil {
		login, err := client.options.Login()
		if err != nil {
			return nil, err
		}
		options = append(options, login...)
	}
	if client.options.TLS != nil {
		options = append(options, client.options.TLS.options()...)
	}
	connection, err := nats.Connect(client.options.URL, options...)
	if err != nil {
		return nil, err
	}
	client.connection = connection
	return connection, nil
}

// jetStream returns the API of JetStream in the domain of the client.
func (client *Client) jetStream() (jetstream.JetStream, error) {
	connection, err := client.connect()
	if err != nil {
		return nil, err
	}
	if client.options.Domain == "" {
		return jetstream.New(connection)
	}
	return jetstream.NewWithDomain(connection, client.options.Domain)
}

// flush sends the last acknowledgements if the server is available.
func (client *Client) flush() {
	client.mutex.Lock()
	connection := client.connection
	client.mutex.Unlock()
	if connection != nil && connection.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		_ = connection.FlushWithContext(ctx)
	}
}

// onError receives what the server reports outside a response. The server reports a refused permission only here: the
// request itself gets no response.
func (client *Client) onError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		client.mutex.Lock()
		client.refused = err
		client.mutex.Unlock()
	}
}

// withRefusal returns err. If the server has refused a permission since the last call of withRefusal, the returned
// error also names that permission.
func (client *Client) withRefusal(err error) error {
	client.mutex.Lock()
	defer client.mutex.Unlock()
	refused := client.refused
	client.refused = nil
	if refused == nil || err == nil {
		return err
	}
	return fmt.Errorf("%w (%w)", refused, err)
}
