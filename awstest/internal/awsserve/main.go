// Command awsserve serves awstest on a socket of the loopback interface, for clients in other processes.
//
//	go run ./awstest/internal/awsserve -addr 127.0.0.1:4566
//
// It prints the address that it listens on, and ends with SIGINT or SIGTERM.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/claimonce/claimonce/awstest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on, loopback only")
	flag.Parse()
	if err := serve(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "awsserve:", err)
		os.Exit(1)
	}
}

func serve(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address: %w; give host and port, for example 127.0.0.1:0", err)
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("address: %s is not of the loopback interface; there is no access control, so give 127.0.0.1", addr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := awstest.New(awstest.Config{}).Listen(addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, l.URL())
	<-ctx.Done()
	return l.Close()
}
