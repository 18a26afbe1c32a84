package cluster

import (
	"context"
	"net"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/platform/devcluster/folders"
	"kyklos.io/kyklos/test/platform/devcluster/kubelet"
)

// startHost starts a node that runs host processes besides simulated pods, and the provisioner of their
// volumes. When they have ended, no process is left.
func startHost(ctx context.Context, parts *sync.WaitGroup, dir *Dir, config *rest.Config, listener net.Listener, others kubelet.Runtime) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	processes, err := kubelet.NewProcesses(client, dir.Path("pods"))
	if err != nil {
		return err
	}
	node, err := kubelet.New(config, nodeName, kubelet.ByImage{Host: processes, Others: kubelet.NewWithClaims(client, others)}, listener)
	if err != nil {
		return err
	}
	node.AwaitClaims()
	provisioner, err := folders.New(config, dir.Path("volumes"))
	if err != nil {
		return err
	}
	parts.Go(func() { provisioner.Run(ctx) })
	parts.Go(func() {
		defer processes.Close()
		node.Run(ctx)
	})
	return nil
}
