package lint_test

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
	"kyklos.io/kyklos/test/harness"
)

// patience is how long something may take that happens at once; only a failing test takes it.
const patience = time.Minute

var (
	manager    *harness.Manager
	managerLog harness.Log
)

// asked are all trials with the answers of the API server without Kyklos: its definitions alone.
var asked = sync.OnceValues(askAll)

// trials returns the trials that were asked of the API server before Kyklos was installed.
func trials(t *testing.T) []*trial {
	t.Helper()
	all, err := asked()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var installed = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	port, err := cluster.InstallOnFreePort(ctx)
	if err != nil {
		return err
	}
	options := harness.ManagerOptions{WebhookPort: port, Args: []string{"--leader-elect=false", "--log-format=text"}, Log: &managerLog}
	if manager, err = cluster.StartManager(ctx, options); err != nil {
		return err
	}
	return manager.AwaitReady(ctx)
})

// withKyklos returns when Kyklos is installed in the cluster and its webhooks answer.
func withKyklos(t *testing.T) {
	t.Helper()
	trials(t) // those that are asked without Kyklos come first
	if err := installed(); err != nil {
		t.Fatal(err)
	}
}

// askAll stores the old objects of updates while the definitions allow everything, then installs the real ones and asks.
func askAll() ([]*trial, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	all, err := corpus()
	if err != nil {
		return nil, err
	}
	admin, err := cluster.Client()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"shop", "studio", "stored", namespace} {
		if err := admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return nil, err
		}
	}
	if err := define(ctx, admin, true); err != nil {
		return nil, err
	}
	asker, err := newAsker()
	if err != nil {
		return nil, err
	}
	if err := asker.each(all, asker.store); err != nil {
		return nil, err
	}
	if err := define(ctx, admin, false); err != nil {
		return nil, err
	}
	return all, asker.each(all, asker.ask)
}

// define installs the definitions, as they are or so that they allow every object, and returns when the API server validates by
// them.
func define(ctx context.Context, admin client.Client, anything bool) error {
	definitions, err := definitions()
	if err != nil {
		return err
	}
	for _, definition := range definitions {
		if anything {
			loosen(definition)
		}
		if err := replace(ctx, admin, definition); err != nil {
			return err
		}
	}
	asker, err := newAsker()
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		for _, probe := range []string{"TimeWindowScaler/v1alpha1", "TimeWindowScaler/v1beta1", "Workspace/v1alpha1"} {
			said, err := asker.create(probeOf(probe))
			if err != nil {
				return false, err
			}
			if said.code == 404 || (said.code < 300) != anything {
				return false, nil
			}
		}
		return true, nil
	})
}

func replace(ctx context.Context, admin client.Client, definition *unstructured.Unstructured) error {
	stored := definition.DeepCopy()
	err := admin.Get(ctx, client.ObjectKeyFromObject(definition), stored)
	if apierrors.IsNotFound(err) {
		return admin.Create(ctx, definition)
	}
	if err != nil {
		return err
	}
	stored.Object["spec"] = definition.Object["spec"]
	return admin.Update(ctx, stored)
}

// definitions are those that the project generates.
func definitions() (all []*unstructured.Unstructured, err error) {
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		data, err := crd.Bases.ReadFile(name)
		if err != nil {
			return nil, err
		}
		objects, problems := manifest.Parse(&manifest.File{Name: name, Data: data})
		if len(problems) > 0 || len(objects) != 1 {
			return nil, fmt.Errorf("%s: %v", name, problems)
		}
		all = append(all, objects[0].Unstructured())
	}
	return all, nil
}

// loosen has the definition allow every object, its status included.
func loosen(definition *unstructured.Unstructured) {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		version := v.(map[string]any)
		version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
		for _, name := range []string{"subresources", "selectableFields", "additionalPrinterColumns"} {
			delete(version, name)
		}
	}
	_ = unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")
}
