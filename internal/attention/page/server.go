package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"chargpt/internal/attention"
)

// maxRequest bounds the body of a request; a context of 64 Ki characters fits into it.
const maxRequest = 1 << 20

// ErrNoCheckpoint is what [Models.Open] wraps for an id that is not on its list.
var ErrNoCheckpoint = errors.New("no such checkpoint")

// Checkpoint is one model that the live page offers. The id is a name that the server made up, never a path.
type Checkpoint struct {
	ID   string `json:"id"`
	Name string `json:"name"` // for people
}

// Model answers the live page. Its methods are never called at the same time.
type Model interface {
	Shape() attention.Shape
	Vocab() []string // (V), one character each
	// Forward traces between one and block_size token ids.
	Forward(ctx context.Context, tokens []int32) (*attention.Trace, error)
}

// Models are the models that the live page may choose from. Its methods are never called at the same time.
type Models interface {
	List() []Checkpoint // the first one is shown first
	// Open returns a model, which may be the one that it returned before. It fails with an error that wraps
	// [ErrNoCheckpoint] when the id is not of a listed checkpoint.
	Open(ctx context.Context, id string) (Model, error)
}

// Options of the live page; the zero value is useful.
type Options struct {
	Prompt string // the text that the page starts with
	View   View   // the head that it starts with
}

// NewHandler serves the live page and the two requests that it makes. It reads no file. Use [Serve] to run it: that
// also checks the Host header.
func NewHandler(m Models, o Options) http.Handler {
	s := &server{models: m, options: o, turn: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("POST /api/model", s.model)
	mux.HandleFunc("POST /api/forward", s.forward)
	return secured(mux)
}

type server struct {
	models  Models
	options Options
	turn    chan struct{} // holds one token while a model works: a graph is not for two requests at once
}

// live is the data of a page that asks a server.
type live struct {
	Kind        string       `json:"kind"` // "live"
	Prompt      string       `json:"prompt"`
	View        View         `json:"view"`
	Checkpoints []Checkpoint `json:"checkpoints"`
}

// request is the body of both POST requests.
type request struct {
	Checkpoint string  `json:"checkpoint"`
	Tokens     []int32 `json:"tokens"` // (T), /api/forward only
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	if !s.enter(r.Context()) {
		return
	}
	list := nonNil(s.models.List())
	s.leave()
	var b bytes.Buffer // so that a failure can still become a status
	data := live{Kind: "live", Prompt: s.options.Prompt, View: s.options.View, Checkpoints: list}
	if err := render(&b, document{Title: titleOf("live"), Heading: inspector, Connect: true, Data: data}); err != nil {
		fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

func (s *server) model(w http.ResponseWriter, r *http.Request) {
	s.ask(w, r, func(_ context.Context, m Model, _ []int32) (any, int, error) {
		return encodeModel(m.Shape(), m.Vocab()), http.StatusOK, nil
	})
}

func (s *server) forward(w http.ResponseWriter, r *http.Request) {
	s.ask(w, r, func(ctx context.Context, m Model, tokens []int32) (any, int, error) {
		tokens, dropped, err := window(tokens, m.Shape())
		if err != nil {
			return nil, http.StatusBadRequest, err
		}
		t, err := m.Forward(ctx, tokens)
		if err == nil {
			err = checkTrace(t)
		}
		if err != nil {
			return nil, http.StatusInternalServerError, err
		}
		reply := encodeTrace(t, precisionFor([]*attention.Trace{t}, pageBudget))
		reply.Dropped += dropped
		return reply, http.StatusOK, nil
	})
}

// ask reads a request, waits for its turn, opens the model, and sends what f makes of them. A client that gave up
// meanwhile (it typed on) costs no forward pass.
func (s *server) ask(w http.ResponseWriter, r *http.Request,
	f func(context.Context, Model, []int32) (reply any, status int, err error)) {
	q, status, err := decode(w, r)
	if err != nil {
		fail(w, status, err)
		return
	}
	if !s.enter(r.Context()) {
		return
	}
	defer s.leave()
	m, err := s.models.Open(r.Context(), q.Checkpoint)
	if err != nil {
		fail(w, statusOf(err), err)
		return
	}
	reply, status, err := f(r.Context(), m, q.Tokens)
	if err != nil {
		fail(w, status, err)
		return
	}
	send(w, status, reply)
}

func (s *server) enter(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case s.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *server) leave() { <-s.turn }

// window keeps the last block_size tokens and says how many it left out.
func window(tokens []int32, shape attention.Shape) (kept []int32, dropped int, err error) {
	if len(tokens) == 0 {
		return nil, 0, errors.New("no tokens")
	}
	for _, id := range tokens {
		if id < 0 || int(id) >= shape.VocabSize {
			return nil, 0, fmt.Errorf("token %d is outside 0 to %d", id, shape.VocabSize-1)
		}
	}
	dropped = max(0, len(tokens)-shape.BlockSize)
	return tokens[dropped:], dropped, nil
}

// decode reads one JSON object and nothing after it.
func decode(w http.ResponseWriter, r *http.Request) (request, int, error) {
	var q request
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return q, http.StatusUnsupportedMediaType, errors.New("the body must be application/json")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	d.DisallowUnknownFields()
	err := d.Decode(&q)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.Join(errors.New("more than one JSON value"), end)
		}
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return q, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes", large.Limit)
	}
	if err != nil {
		return q, http.StatusBadRequest, fmt.Errorf("bad request: %w", err)
	}
	return q, http.StatusOK, nil
}

func statusOf(err error) int {
	if errors.Is(err, ErrNoCheckpoint) {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func fail(w http.ResponseWriter, status int, err error) {
	send(w, status, map[string]string{"error": err.Error()})
}

func send(w http.ResponseWriter, status int, reply any) {
	body, err := json.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
