package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd opens the folder's store on a free loopback port and waits until it takes writes. The store
// has no fsync: it survives kill -9 of the process, not of the machine. It has no authentication either, so
// every user of this machine can reach the data: a development store.
func startEtcd(ctx context.Context, dir *Dir) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir.Path("etcd")
	config.UnsafeNoFsync = true
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	config.EnableGRPCGateway = false
	// Port 0: the kernel picks one without a race, and nobody but this process needs to know it. A single
	// member needs no peer port at all.
	config.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenPeerUrls = nil
	// One member elects itself; shorter ticks than the default 100 ms only shorten the wait for that.
	config.TickMs, config.ElectionMs = 20, 100

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-etcd.Server.StopNotify():
		err = errors.New("it stopped by itself")
	case <-ctx.Done():
		err = ctx.Err()
	}
	etcd.Close()
	return nil, fmt.Errorf("starting etcd: %w", err)
}
