package events

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Seed returns the seed of an nkey. It is called for each request.
type Seed func() (string, error)

// SeedFile reads the seed from a file.
func SeedFile(file string) Seed {
	return func() (string, error) {
		content, err := os.ReadFile(file)
		return string(content), err
	}
}

// streamState is the identity of the event stream and the range of sequence numbers that the stream contains.
type streamState struct {
	// Created differs if the stream was deleted and created again.
	Created       string `json:"created"`
	FirstSequence uint64 `json:"firstSequence"`
	LastSequence  uint64 `json:"lastSequence"`
}

// listing reads all existing objects, as events.
type listing struct {
	origin string
	seed   Seed
	client *http.Client
}

const (
	listingPage    = "1000"
	listingTimeout = 60 * time.Second
	// maxQuoted is the maximum number of characters of a response that an error contains.
	maxQuoted = 200
)

func (listing *listing) stream(ctx context.Context) (state streamState, err error) {
	content, _, err := listing.get(ctx, "/events/v1/stream")
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal(content, &state); err != nil {
		return state, fmt.Errorf("the position of the stream cannot be read: %w", err)
	}
	return state, nil
}

// objects calls handle with the events of all objects whose subjects match the filter, page by page.
func (listing *listing) objects(ctx context.Context, filter string, handle func(Event) error) error {
	query := url.Values{"filter": {filter}, "limit": {listingPage}}
	for {
		content, header, err := listing.get(ctx, "/events/v1/objects?"+query.Encode())
		if err != nil {
			return err
		}
		for line := range bytes.SplitSeq(content, []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			event, err := listedEvent(line)
			if err != nil {
				return err
			}
			if err := handle(event); err != nil {
				return err
			}
		}
		cursor := header.Get("Statehouse-Cursor")
		if cursor == "" {
			return nil
		}
		query.Set("cursor", cursor)
	}
}

func (listing *listing) get(ctx context.Context, target string) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, listingTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, listing.origin+target, nil)
	if err != nil {
		return nil, nil, err
	}
	credential, err := listing.credential(target)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Nkey "+credential)
	response, err := listing.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, err
	}
	if response.StatusCode != http.StatusOK {
		text := []rune(strings.ToValidUTF8(string(content), "\uFFFD"))
		return nil, nil, fmt.Errorf("%s%s responded with %d: %s",
			listing.origin, target, response.StatusCode, string(text[:min(len(text), maxQuoted)]))
	}
	return content, response.Header, nil
}

// credential returns a credential for one request, signed with the nkey. It can be used only once.
func (listing *listing) credential(target string) (string, error) {
	seed, err := listing.seed()
	if err != nil {
		return "", err
	}
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(seed)))
	if err != nil {
		return "", fmt.Errorf("the seed of the nkey is invalid: %w", err)
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return "", fmt.Errorf("the seed of the nkey is invalid: %w", err)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	nonce := base64.RawURLEncoding.EncodeToString(random)
	now := strconv.FormatInt(time.Now().Unix(), 10)
	text := strings.Join([]string{"statehouse-listing-v1", listing.origin, target, now, nonce}, "\n")
	signature, err := pair.Sign([]byte(text))
	if err != nil {
		return "", err
	}
	return strings.Join([]string{public, now, nonce, base64.RawURLEncoding.EncodeToString(signature)}, "."), nil
}

// listedEvent reads one line of the listing, which is an event in the JSON format of CloudEvents.
func listedEvent(text []byte) (Event, error) {
	var line struct {
		ID           string          `json:"id"`
		Type         string          `json:"type"`
		Source       string          `json:"source"`
		Subject      string          `json:"subject"`
		Time         time.Time       `json:"time"`
		Sequence     string          `json:"sequence"`
		Organization string          `json:"organization"`
		Data         json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return Event{}, fmt.Errorf("a line of the listing cannot be read: %w", err)
	}
	revision, err := strconv.ParseUint(line.Sequence, 10, 64)
	if err != nil {
		return Event{}, fmt.Errorf("a line of the listing has no revision: %w", err)
	}
	return Event{
		ID:             line.ID,
		Type:           line.Type,
		OrganizationID: line.Organization,
		Source:         line.Source,
		Subject:        line.Subject,
		Revision:       revision,
		Time:           line.Time.UTC(),
		JSON:           line.Data,
		Listed:         true,
	}, nil
}
