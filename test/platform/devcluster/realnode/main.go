// Command realnode is what a node needs besides a container runtime, in one binary: called as kubelet,
// kube-scheduler, kube-proxy or kube-controller-manager (its first argument) it is that program. Only
// `make test-node` builds it; every other test has the simulated kubelet.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var programs = map[string]func() *cobra.Command{
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
}

func main() {
	if len(os.Args) > 1 {
		if program, ok := programs[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			os.Exit(cli.Run(program()))
		}
	}
	fmt.Fprintln(os.Stderr, "realnode: the first argument must be kubelet, kube-scheduler, kube-proxy or kube-controller-manager")
	os.Exit(1)
}
