package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
)

// openEtcd returns the URL of the store, and what closes it.
func openEtcd(ctx context.Context, dir *Dir, opts Options) (url string, closeIt func(), err error) {
	if opts.Etcd != "" {
		return opts.Etcd, func() {}, nil
	}
	etcd, err := startEtcd(ctx, dir, opts.EtcdGateway)
	if err != nil {
		return "", nil, err
	}
	return "http://" + etcd.Clients[0].Addr().String(), etcd.Close, nil
}

// startEtcd opens the folder's store on a free loopback port and waits until it takes writes. The store
// has no fsync: it survives kill -9 of the process, not of the machine. It has no authentication either, so
// every user of this machine can reach the data: a development store.
//
// With gateway it also answers etcd's own API as JSON, and its URL is written to the file etcd-url: a test
// can read what the API server has really stored.
func startEtcd(ctx context.Context, dir *Dir, gateway bool) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir.Path("etcd")
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	config.EnableGRPCGateway = gateway
	// Port 0: the kernel picks one without a race, and only this process needs to know it. A single
	// member needs no peer port at all.
	config.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	if gateway {
		host, err := freeAddress() // the gateway dials the address as it is configured
		if err != nil {
			return nil, err
		}
		config.ListenClientUrls[0].Host = host
	}
	config.ListenPeerUrls = nil
	// One member elects itself; shorter ticks than the default 100 ms only shorten the wait for that.
	config.TickMs, config.ElectionMs = 20, 100

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		if !gateway {
			return etcd, nil
		}
		if err = os.WriteFile(dir.Path("etcd-url"), []byte("http://"+etcd.Clients[0].Addr().String()), 0o600); err == nil {
			return etcd, nil
		}
	case err = <-etcd.Err():
	case <-etcd.Server.StopNotify():
		err = errors.New("it stopped by itself")
	case <-ctx.Done():
		err = ctx.Err()
	}
	etcd.Close()
	return nil, fmt.Errorf("starting etcd: %w", err)
}

// freeAddress returns a loopback address that is free now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a port for etcd: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
