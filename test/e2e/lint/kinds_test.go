package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/lint/ruleset"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// TestBuiltInKinds compares the kinds that lint assumes in every cluster with those of a cluster: every built-in kind is a target, or
// not, for the same reason with the cluster and without.
func TestBuiltInKinds(t *testing.T) {
	server, err := apiserver.New(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	here, err := ruleset.NewCluster(cluster.Config, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	var set manifest.Set
	for i, kind := range append(servedKinds(t), "batch/v1/Deployment", "autoscaling/v1/ReplicaSet") {
		group, name := kind[:strings.LastIndex(kind, "/")], kind[strings.LastIndex(kind, "/")+1:]
		text := scalerOf(fmt.Sprintf("of-%d", i), fmt.Sprintf("apiVersion: %s, kind: %s, name: a-%d", group, name, i), "")
		objects, _ := manifest.Parse(&manifest.File{Name: kind, Data: []byte(text)})
		set.Objects = append(set.Objects, objects...)
	}
	messages := func(c *ruleset.Cluster) (found []string) {
		result, err := ruleset.Run(t.Context(), &set, ruleset.Options{Server: server, Namespace: "default", Cluster: c, Now: time.Now()})
		if err != nil || len(result.Notes) > 0 {
			t.Fatal(err, result.Notes)
		}
		for _, f := range result.Findings {
			if f.Rule == lint.TargetKind {
				found = append(found, fmt.Sprintf("%s: %s %s", f.Object.File.Name, f.Field, f.Message))
			}
		}
		return found
	}
	with, without := messages(here), messages(nil)
	if diff := cmp.Diff(with, without); diff != "" || len(with) < 20 {
		t.Errorf("of %d kinds %d are refused (-with the cluster +without):\n%s", len(set.Objects), len(with), diff)
	}
}

// younger are beginnings of kinds that this cluster has, and not every cluster which Kyklos supports: without a cluster lint does not report
// them.
var younger = []string{
	"admissionregistration.k8s.io/v1/MutatingAdmissionPolicy", // and its bindings
	"certificates.k8s.io/v1/ClusterTrustBundle", "certificates.k8s.io/v1/PodCertificateRequest",
	"resource.k8s.io/v1/", "storage.k8s.io/v1/VolumeAttributesClass", "storagemigration.k8s.io/v1/",
}

// servedKinds are the kinds that are built into every cluster, as GROUP/VERSION/KIND.
func servedKinds(t *testing.T) (kinds []string) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		if strings.Contains(list.GroupVersion, ".") && !strings.HasSuffix(list.GroupVersion, ".k8s.io/v1") {
			continue // of Kyklos, or a version that clusters need not serve
		}
		for _, resource := range list.APIResources {
			kind := list.GroupVersion + "/" + resource.Kind
			isYounger := slices.ContainsFunc(younger, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
			if !strings.Contains(resource.Name, "/") && !isYounger {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}
