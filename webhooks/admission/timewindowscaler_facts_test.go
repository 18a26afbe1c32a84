package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// Reads that fail cost their own check and nothing else.
func TestFailingReadsRefuseNothing(t *testing.T) {
	denied := errors.New("forbidden")
	noGet := interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return denied
	}}
	noList := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return denied
	}}
	owned := []client.Object{scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name = "night" })}
	for name, tc := range map[string]struct {
		cluster cluster
		result  string
	}{
		"no target and no ConfigMap is read": {cluster{broken: noGet}, "create allowed"},
		"and yet the owner is found":         {cluster{objects: owned, broken: noGet}, "create denied"},
		"no scaler and no autoscaler":        {cluster{objects: append(quiet(t)[:2], owned...), broken: noList}, "create allowed"},
		"and yet the target is read":         {cluster{objects: owned, broken: noList}, "create warned"},
	} {
		t.Run(name, func(t *testing.T) {
			if response, result := handle(t, tc.cluster.validator(t), request(stored, "")); result != tc.result {
				t.Errorf("%q, want %q; %q %v", result, tc.result, response.Warnings, response.Result)
			}
		})
	}
}

// Where a namespace is not served nothing is known of it, but what holds everywhere still counts.
func TestNamespacesThatAreNotServed(t *testing.T) {
	owned := []client.Object{scaler(t, func(o *v1beta1.TimeWindowScaler) { o.Name = "night" })}
	unknown := map[string]resolved{"Rollout": {err: &targetkind.UnknownError{Kind: rollout.GroupVersionKind}}}
	further := map[string]resolved{"Rollout": {kind: rollout}}
	unserved := []string{`metadata.namespace: this Kyklos does not serve namespace "shop" (flag --namespaces): nothing happens here unless another Kyklos does`}
	for name, tc := range map[string]struct {
		cluster  cluster
		obj      string
		warnings []string
		result   string
	}{
		"one of those served":       {cluster{objects: quiet(t), namespaces: []string{"back", "shop"}}, stored, nil, "create allowed"},
		"no target, another has it": {cluster{objects: owned, namespaces: []string{"back"}}, stored, unserved, "create warned"},
		"a further kind":            {cluster{further: further, denied: []string{"patch"}, namespaces: []string{"back"}}, of("argoproj.io/v1alpha1", "Rollout"), unserved, "create warned"},
		"an unknown kind":           {cluster{further: unknown, namespaces: []string{"back"}}, of("argoproj.io/v1alpha1", "Rollout"), unserved, "create denied"},
	} {
		t.Run(name, func(t *testing.T) {
			response, result := handle(t, tc.cluster.validator(t), request(tc.obj, ""))
			if diff := cmp.Diff(tc.warnings, response.Warnings); diff != "" || result != tc.result {
				t.Errorf("%q, want %q; warnings (-want +got)\n%s", result, tc.result, diff)
			}
		})
	}
}

// A read that hangs, as a cache does that may not list, is given up long before the API server gives
// up on the webhook. The time here is synctest's.
func TestHangingReadsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // timeoutSeconds of the webhook
		defer cancel()
		hangs := interceptor.Funcs{Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		if response := (cluster{broken: hangs}).validator(t).Handle(ctx, request(stored, "")); !response.Allowed {
			t.Errorf("%v", response.Result)
		}
		if err := ctx.Err(); err != nil {
			t.Errorf("too late: %v", err)
		}
	})
}
