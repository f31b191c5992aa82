package awstest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// A Listener serves a [Server] on a socket.
type Listener struct {
	server *http.Server
	url    string
	done   chan struct{}
}

// Listen serves on an address, for example 127.0.0.1:0 for any free port. Without a host, as in :4566, it listens on the loopback
// interface only, since there is no access control; other interfaces have to be named. Several listeners can serve one server.
func (s *Server) Listen(addr string) (*Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("awstest: listen: %w; give host and port, for example 127.0.0.1:0", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("awstest: listen: %w", err)
	}
	out := &Listener{
		server: &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second},
		url:    "http://" + l.Addr().String(), done: make(chan struct{}),
	}
	go func() {
		defer close(out.done)
		_ = out.server.Serve(l) // ends with Close
	}()
	return out, nil
}

// URL is the endpoint for clients.
func (l *Listener) URL() string { return l.url }

// Close ends the listener and every connection; what the server holds stays. It may be called more than once.
func (l *Listener) Close() error {
	err := l.server.Close()
	<-l.done
	return err
}
