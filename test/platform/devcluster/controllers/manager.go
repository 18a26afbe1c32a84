// Package controllers runs the controllers of kube-controller-manager that a test of an operator needs,
// without linking kube-controller-manager.
package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// Manager holds the controllers, ready to run.
type Manager struct {
	shared   *shared
	informed chan struct{}
	runs     []func(context.Context)
}

// shared is what several controllers use together.
type shared struct {
	config    *rest.Config
	ca        []byte
	informers informers.SharedInformerFactory
	objects   informerfactory.InformerFactory
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	graph     *garbagecollector.GraphBuilder
}

// clients are what one controller speaks through, under a user agent of its own.
type clients struct {
	kubernetes.Interface
	config   *rest.Config
	metadata metadata.Interface
}

// New builds the controllers of the table but those that without names. config must be allowed everything; ca is
// published to each namespace as kube-root-ca.crt.
func New(ctx context.Context, config *rest.Config, ca []byte, without []string) (*Manager, error) {
	m := &Manager{informed: make(chan struct{})}
	base, err := newClients(config, "shared-informers")
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(discovery.NewDiscoveryClient(base.Discovery().RESTClient()))
	typed := informers.NewSharedInformerFactory(base, 0)
	s := &shared{
		config: config, ca: ca, informers: typed,
		objects: informerfactory.NewInformerFactory(typed, metadatainformer.NewSharedInformerFactory(base.metadata, 0)),
		mapper:  restmapper.NewDeferredDiscoveryRESTMapper(cached),
	}
	s.graph = garbagecollector.NewDependencyGraphBuilder(ctx, base.metadata, s.mapper,
		garbagecollector.DefaultIgnoredResources(), s.objects, m.informed)
	m.shared = s
	for _, entry := range table {
		if slices.Contains(without, entry.name) {
			continue
		}
		own, err := newClients(config, entry.name)
		if err != nil {
			return nil, err
		}
		run, err := entry.build(ctx, s, own)
		if err != nil {
			return nil, fmt.Errorf("building the %s controller: %w", entry.name, err)
		}
		m.runs = append(m.runs, run)
	}
	return m, nil
}

// Run runs the controllers until ctx ends and returns when all have ended.
func (m *Manager) Run(ctx context.Context) {
	m.shared.objects.Start(ctx.Done())
	close(m.informed)
	var all sync.WaitGroup
	for _, run := range m.runs {
		all.Go(func() { run(ctx) })
	}
	all.Wait()
	m.shared.informers.Shutdown()
}

func newClients(config *rest.Config, name string) (*clients, error) {
	own := rest.CopyConfig(config)
	own.UserAgent = config.UserAgent + "/" + name
	typed, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", name, err)
	}
	meta, err := metadata.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("making the metadata client of %s: %w", name, err)
	}
	return &clients{Interface: typed, config: own, metadata: meta}, nil
}
