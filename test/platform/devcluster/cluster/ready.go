package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const pollEvery = 25 * time.Millisecond

// waitServing waits until the API server answers an authorised request, which is enough for controllers:
// from then on their informers work, while the server's own start-up hooks may still run.
func waitServing(ctx context.Context, client kubernetes.Interface) error {
	return poll(ctx, "the API server does not answer", func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// waitUsable waits until a user's first command cannot fail for lack of start-up: /readyz, the default
// namespace with its ServiceAccount (pods are refused without it), discovery with no stale group, and
// whatever else served asks for.
func waitUsable(ctx context.Context, client kubernetes.Interface, served func(context.Context) error) error {
	return poll(ctx, "the cluster is not ready", func(ctx context.Context) error {
		if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
			return fmt.Errorf("/readyz: %w", err)
		}
		if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return fmt.Errorf("default ServiceAccount: %w", err)
		}
		if err := served(ctx); err != nil {
			return err
		}
		return discoverable(ctx, client)
	})
}

// discoverable reads aggregated discovery as kubectl does and refuses a list with a stale group version.
func discoverable(ctx context.Context, client kubernetes.Interface) error {
	body, err := client.Discovery().RESTClient().Get().AbsPath("/apis").
		SetHeader("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").Do(ctx).Raw()
	if err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	var list apidiscovery.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	served := false
	for _, group := range list.Items {
		for _, version := range group.Versions {
			if version.Freshness != apidiscovery.DiscoveryFreshnessCurrent {
				return fmt.Errorf("discovery: %s/%s is %s", group.Name, version.Version, version.Freshness)
			}
			served = served || (group.Name == "apps" && len(version.Resources) > 0)
		}
	}
	if !served {
		return errors.New("discovery: group apps is not listed yet")
	}
	return nil
}

// poll calls try until it succeeds; when ctx ends first, the error says what was missing last.
func poll(ctx context.Context, missing string, try func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		if err := try(ctx); err != nil && ctx.Err() == nil {
			last = err
		} else {
			return err == nil, nil
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", missing, errors.Join(err, last))
	}
	return nil
}
