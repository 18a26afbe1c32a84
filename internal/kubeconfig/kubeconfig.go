// Package kubeconfig finds the API server that a command talks to, as kubectl does.
package kubeconfig

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/buildinfo"
	"kyklos.io/kyklos/internal/scheme"
)

// Flags select the API server and the namespace. Empty ones use the kubeconfig or the pod.
type Flags struct{ Kubeconfig, Context, Namespace string }

// Bind adds --kubeconfig, --context and --namespace.
func (f *Flags) Bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "path of a kubeconfig; empty uses KUBECONFIG, then the pod's ServiceAccount")
	flags.StringVar(&f.Context, "context", "", "context of the kubeconfig; empty uses the current one")
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace; empty uses that of the kubeconfig or the pod")
}

// Connect returns the client configuration and the namespace. The user agent, which the API server's audit log shows,
// contains the command's name.
func (f *Flags) Connect(command string) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: f.Context})
	config, err := loaded.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("find the API server: no kubeconfig found: use --kubeconfig or the variable KUBECONFIG")
	}
	if err != nil {
		return nil, "", fmt.Errorf("find the API server: %w", err)
	}
	config.UserAgent = "kyklos-" + command + "/" + buildinfo.Version()
	if f.Namespace != "" {
		return config, f.Namespace, nil
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("--namespace: %w", err)
	}
	return config, namespace, nil
}

// Reader returns a client of the API server, and the namespace.
func (f *Flags) Reader(command string) (client.Reader, string, error) {
	config, namespace, err := f.Connect(command)
	if err != nil {
		return nil, "", err
	}
	reader, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, "", fmt.Errorf("create an API server client: %w", err)
	}
	return reader, namespace, nil
}

// Client returns a client that also writes and watches, its configuration, and the namespace. warn gets the warnings of the API server.
func (f *Flags) Client(command string, warn io.Writer) (client.WithWatch, *rest.Config, string, error) {
	config, namespace, err := f.Connect(command)
	if err != nil {
		return nil, nil, "", err
	}
	config.WarningHandler = rest.NewWarningWriter(warn, rest.WarningWriterOptions{Deduplicate: true})
	cluster, err := client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, nil, "", fmt.Errorf("create an API server client: %w", err)
	}
	return cluster, config, namespace, nil
}
