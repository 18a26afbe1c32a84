// Command devcluster is a Kubernetes control plane in one process: etcd, the API server, the controllers
// that tests need and a simulated kubelet. Called as kubectl, etcd or kube-apiserver (through a link or as
// its first argument) it is that program instead, so one file serves a machine that has none of them.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	_ "time/tzdata" // CEL rules use time zones: a host without zone files must not change a verdict.

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// applets are the programs this binary can be besides itself.
var applets = map[string]func(args []string){
	"kubectl":        runKubectl,
	"etcd":           etcdmain.Main,
	"kube-apiserver": func([]string) { os.Exit(cli.Run(app.NewAPIServerCommand())) },
}

func main() {
	if run, ok := applets[filepath.Base(os.Args[0])]; ok {
		run(os.Args)
		return
	}
	if len(os.Args) > 1 {
		if run, ok := applets[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			run(os.Args)
			return
		}
	}
	if err := newCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "devcluster:", err)
		os.Exit(1)
	}
}

func runKubectl(args []string) {
	// kubectl logs while it builds its commands (plugins, kuberc), so -v is needed before cobra parses it.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}
