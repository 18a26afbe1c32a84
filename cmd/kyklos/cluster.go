package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster is which API server a command speaks to, and in which namespace, as kubectl finds both.
type cluster struct{ kubeconfig, context, namespace string }

func (c *cluster) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "path of a kubeconfig; empty uses KUBECONFIG, then the pod's ServiceAccount")
	flags.StringVar(&c.context, "context", "", "context of the kubeconfig; empty takes the current one")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "namespace; empty takes that of the kubeconfig or the pod")
}

// connect returns how to reach the API server for a command, which its log then names, and the namespace.
func (c *cluster) connect(command string) (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.context})
	config, err := loaded.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("find the API server: no kubeconfig says where it is: name one with --kubeconfig, or in the variable KUBECONFIG")
	}
	if err != nil {
		return nil, "", fmt.Errorf("find the API server: %w", err)
	}
	config.UserAgent = "kyklos-" + command + "/" + ownVersion()
	if c.namespace != "" {
		return config, c.namespace, nil
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("--namespace: %w", err)
	}
	return config, namespace, nil
}

// reader is a client of the API server for a command, and the namespace.
func (c *cluster) reader(command string) (client.Reader, string, error) {
	config, namespace, err := c.connect(command)
	if err != nil {
		return nil, "", err
	}
	reader, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, "", fmt.Errorf("make a client of the API server: %w", err)
	}
	return reader, namespace, nil
}
