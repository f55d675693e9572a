package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// grace is how long a shutdown waits for requests under way; their contexts end at once.
const grace = 3 * time.Second

// Serve runs a handler on addr ("host:port"; an empty host means 127.0.0.1, port 0 a free one) until the context ends,
// and then returns nil. It answers only requests whose Host header is a loopback name or the given host. It prints
// nothing: ready, if not nil, is told the address of the page as soon as it can be opened.
func Serve(ctx context.Context, addr string, h http.Handler, ready func(url string)) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("page: listen address %q: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	srv := newServer(ctx, checkHost(host, h))
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- shutdown(srv) })
	if ready != nil {
		ready(urlOf(host, l.Addr()))
	}
	err = srv.Serve(l)
	if !stop() { // the context ended: wait for the requests under way
		err = <-stopped
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

func newServer(ctx context.Context, h http.Handler) *http.Server {
	var s silent
	srv := &http.Server{
		ConnState:         s.note,
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      2 * time.Minute, // a large model may take its time to open
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	srv.RegisterOnShutdown(s.close)
	return srv
}

// silent are the connections that have not asked anything yet. Browsers open some ahead, and a shutdown would wait for
// them.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	over  bool // a shutdown has begun
}

func (s *silent) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew {
		delete(s.conns, c)
		return
	}
	if s.over {
		c.Close()
		return
	}
	if s.conns == nil {
		s.conns = map[net.Conn]bool{}
	}
	s.conns[c] = true
}

func (s *silent) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for c := range s.conns {
		c.Close()
	}
}

func shutdown(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		return srv.Close()
	}
	return nil
}

// urlOf is the address that a person opens. Every interface (0.0.0.0) includes this machine's own.
func urlOf(host string, a net.Addr) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(a.String())
	return "http://" + net.JoinHostPort(host, port) + "/"
}
