package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func post(path, body string) *http.Request {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	return r
}

func answer(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHandlerStatuses(t *testing.T) {
	h := NewHandler(shelf{}, Options{})
	with := func(r *http.Request, key, value string) *http.Request {
		r.Header.Set(key, value)
		return r
	}
	forward := func() *http.Request { return post("/api/forward", `{"checkpoint":"a","tokens":[1,2,3]}`) }
	for name, c := range map[string]struct {
		request *http.Request
		want    int
	}{
		"page":              {httptest.NewRequest("GET", "/", nil), 200},
		"other path":        {httptest.NewRequest("GET", "/etc/passwd", nil), 404},
		"path of a file":    {httptest.NewRequest("GET", "/web/app.js", nil), 404},
		"GET of the API":    {httptest.NewRequest("GET", "/api/forward", nil), 405},
		"PUT":               {httptest.NewRequest("PUT", "/api/forward", nil), 405},
		"forward":           {forward(), 200},
		"model":             {post("/api/model", `{"checkpoint":"a"}`), 200},
		"same origin":       {with(forward(), "Origin", "http://example.com"), 200},
		"other origin":      {with(forward(), "Origin", "http://evil.example"), 403},
		"cross-site":        {with(forward(), "Sec-Fetch-Site", "cross-site"), 403},
		"same site only":    {with(forward(), "Sec-Fetch-Site", "same-site"), 403},
		"no JSON type":      {with(forward(), "Content-Type", "text/plain"), 415},
		"bad JSON":          {post("/api/forward", `{"checkpoint":`), 400},
		"two values":        {post("/api/forward", `{} {}`), 400},
		"unknown field":     {post("/api/forward", `{"checkpoint":"a","path":"/etc"}`), 400},
		"empty":             {post("/api/forward", ``), 400},
		"no tokens":         {post("/api/forward", `{"checkpoint":"a","tokens":[]}`), 400},
		"token too high":    {post("/api/forward", `{"checkpoint":"a","tokens":[9999]}`), 400},
		"negative token":    {post("/api/forward", `{"checkpoint":"a","tokens":[-1]}`), 400},
		"fractional token":  {post("/api/forward", `{"checkpoint":"a","tokens":[1.5]}`), 400},
		"path as an id":     {post("/api/forward", `{"checkpoint":"../../etc/passwd","tokens":[1]}`), 404},
		"no such id":        {post("/api/model", `{"checkpoint":"z"}`), 404},
		"large body":        {post("/api/forward", `{"checkpoint":"`+strings.Repeat("a", maxRequest)+`"}`), 413},
		"large second half": {post("/api/forward", `{}`+strings.Repeat(" ", maxRequest)), 413},
	} {
		t.Run(name, func(t *testing.T) {
			w := answer(h, c.request)
			if w.Code != c.want {
				t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("the answer lacks the security headers")
			}
		})
	}
}

func TestForwardKeepsTheWindow(t *testing.T) {
	tokens := strings.TrimSuffix(strings.Repeat("1,", 70), ",")
	w := answer(NewHandler(shelf{}, Options{}), post("/api/forward", `{"checkpoint":"a","tokens":[`+tokens+`]}`))
	var got wireTrace
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Tokens) != 64 || got.Dropped != 6 {
		t.Errorf("%d tokens and %d dropped, want 64 and 6", len(got.Tokens), got.Dropped)
	}
}

func TestAllowedHost(t *testing.T) {
	for _, c := range []struct {
		header, listen string
		want           bool
	}{
		{"127.0.0.1:8080", "127.0.0.1", true},
		{"localhost:8080", "127.0.0.1", true},
		{"LOCALHOST", "127.0.0.1", true},
		{"[::1]:8080", "127.0.0.1", true},
		{"127.0.0.1.evil.example", "127.0.0.1", false},
		{"evil.example:8080", "127.0.0.1", false},
		{"192.168.1.5:80", "127.0.0.1", false},
		{"", "127.0.0.1", false},
		{"box.lan:80", "box.lan", true},
		{"evil.example", "box.lan", false},
		{"192.168.1.5:80", "0.0.0.0", true}, // an address cannot be rebound
		{"evil.example", "0.0.0.0", false},
		{"[fe80::1]:80", "::", true},
	} {
		if got := allowedHost(hostOnly(c.header), c.listen); got != c.want {
			t.Errorf("Host %q at %q: %v, want %v", c.header, c.listen, got, c.want)
		}
	}
}

// TestServe also shows that a connection that asks nothing does not hold up the shutdown.
func TestServe(t *testing.T) {
	if took := least(grace/2, func() time.Duration { return serveOnce(t) }); took >= grace/2 {
		t.Errorf("the shutdown took %v, want less than %v", took, grace/2)
	}
}

// serveOnce starts a server, asks it, and returns how long its shutdown took.
func serveOnce(t *testing.T) time.Duration {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	urls, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Serve(ctx, ":0", NewHandler(shelf{}, Options{Prompt: "hi"}), func(url string) { urls <- url })
	}()
	url := <-urls
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("an empty host listens at %s", url)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	if status, body := get(t, client, url, ""); status != 200 || !strings.Contains(body, `"prompt":"hi"`) {
		t.Errorf("the page has status %d", status)
	}
	if status, _ := get(t, client, url, "evil.example"); status != 403 {
		t.Errorf("a rebound name has status %d, want 403", status)
	}
	silent, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(url, "http://"), "/")) // as browsers open ahead
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	time.Sleep(50 * time.Millisecond) // for the server to accept it
	begin := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("a shutdown returned %v", err)
	}
	return time.Since(begin)
}

func get(t *testing.T, client *http.Client, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestShutdownEndsForward stops the server while a model works: its context ends, and nobody waits out the grace.
func TestShutdownEndsForward(t *testing.T) {
	if took := least(grace/2, func() time.Duration { return shutdownAtWork(t) }); took >= grace/2 {
		t.Errorf("the shutdown took %v, want less than %v", took, grace/2)
	}
}

// shutdownAtWork returns how long the shutdown of a server took while a model works.
func shutdownAtWork(t *testing.T) time.Duration {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	working := make(chan bool, 1)
	models := shelf{slow: func(ctx context.Context) {
		working <- true
		<-ctx.Done()
	}}
	urls, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- Serve(ctx, "127.0.0.1:0", NewHandler(models, Options{}), func(u string) { urls <- u }) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	url, answered := <-urls, make(chan bool)
	go func() {
		defer close(answered)
		resp, err := client.Post(url+"api/forward", "application/json", strings.NewReader(`{"checkpoint":"a","tokens":[1]}`))
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-working
	begin := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	<-answered
	return time.Since(begin)
}

func TestServeErrors(t *testing.T) {
	if err := Serve(context.Background(), "no port", http.NotFoundHandler(), nil); err == nil {
		t.Error("an address without a port was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Serve(ctx, ":0", http.NotFoundHandler(), nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}
