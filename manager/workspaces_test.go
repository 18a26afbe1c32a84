package manager

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kyklos.io/kyklos/controller/workspace"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/connect"
)

func TestWorkspaceFlags(t *testing.T) {
	compare := func(want workspace.Options, got workspace.Options) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(workspace.Options{}, "Clock", "Endpoints")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	// The defaults of the limits (W39, W50).
	compare(workspace.Options{Workers: 10, Limits: workspace.Limits{PerOwner: 2, PerNamespace: 20, All: 100, Movers: 10}, MoverResources: objects.DefaultMoverResources(), WatcherResources: objects.DefaultWatcherResources()}, parse(t).workspaces.options)
	got := parse(t, "--workspace-workers=1", "--workspace-limit=2", "--workspace-limit-per-owner=3", "--workspace-limit-per-namespace=5", "--mover-limit=4", "--mover-image=kyklos:1", "--archive-folders",
		"--mover-requests=", "--mover-limits=memory=512Mi,ephemeral-storage=1Gi", "--activity-requests=cpu=10m", "--activity-limits=cpu=100m")
	compare(workspace.Options{
		Workers: 1, Limits: workspace.Limits{PerOwner: 3, PerNamespace: 5, All: 2, Movers: 4}, MoverImage: "kyklos:1", Folders: true,
		MoverResources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{
			corev1.ResourceMemory: resource.MustParse("512Mi"), corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"),
		}},
		WatcherResources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
		},
	}, got.workspaces.options)
}

func TestWorkspaceFlagsAreChecked(t *testing.T) {
	for _, name := range []string{"workspace-workers", "workspace-limit", "workspace-limit-per-owner", "workspace-limit-per-namespace", "mover-limit"} {
		options := parse(t, "--"+name+"=0")
		if err, want := options.validate(), "--"+name+": must be at least 1, not 0"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		options = parse(t, "--"+name+"=0", "--workspaces=false")
		if err := options.validate(); err != nil {
			t.Errorf("without workspaces: %v", err)
		}
	}
}

// The stores of both flags are those that may be called.
func TestStoresThatMayBeCalled(t *testing.T) {
	options := parse(t, "--namespace=kyklos-system", "--archive-endpoints=https://s3.example.com")
	want := `--archive-endpoints: "https://s3.example.com": must be a host`
	if err := options.validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, tc := range []struct {
		endpoint string
		flags    []string
		allowed  bool
	}{
		{"http://127.0.0.1:9000", nil, false},
		{"http://127.0.0.1:9000", []string{"--archive-loopback"}, true},
		{"https://s3.example.com", nil, true},
		{"https://s3.example.com", []string{"--archive-endpoints=minio,s3.example.com"}, true},
		{"https://s3.example.com", []string{"--archive-endpoints=minio"}, false},
	} {
		options := parse(t, append(tc.flags, "--namespace=kyklos-system")...)
		if err := options.validate(); err != nil {
			t.Fatal(err)
		}
		secret := map[string][]byte{
			connect.Endpoint: []byte(tc.endpoint), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte("a"), connect.SecretAccessKey: []byte("b"),
		}
		if tc.allowed && strings.HasPrefix(tc.endpoint, "https") {
			secret[connect.VirtualHost] = []byte("true") // the bucket's name is below the listed one
		}
		if _, err := connect.Open(secret, connect.Options{Endpoints: options.workspaces.options.Endpoints}); (err == nil) != tc.allowed {
			t.Errorf("%s with %v: %v", tc.endpoint, tc.flags, err)
		}
	}
}

// W55, W105: amounts that no mover or watcher could work with are refused by the flag's name.
func TestMoverResources(t *testing.T) {
	for args, says := range map[string]string{
		"--mover-limits=memory=256Mi":                           "",
		"--mover-limits=":                                       "",
		"--mover-limits=cpu=250m":                               "",
		"--mover-requests=cpu=1,memory=1Gi,ephemeral-storage=1": "",
		"--mover-requests=cpu=5":                                "--mover-requests: cpu must not exceed 4 of --mover-limits, but is 5",
		"--mover-limits=cpu=4,memory=255Mi":                     "--mover-requests: memory must not exceed 255Mi of --mover-limits, but is 256Mi",
		"--activity-requests= --activity-limits=":               "",
		"--activity-requests=cpu=1":                             "--activity-requests: cpu must not exceed 200m of --activity-limits, but is 1",
		"--activity-limits=memory=32Mi":                         "--activity-limits: memory must be at least 64Mi, not 32Mi: the container and its probe are two processes",
		"--mover-requests= --mover-limits=memory=64Mi":          "--mover-limits: memory must be at least 256Mi, not 64Mi: four parts of an upload are 128Mi",
	} {
		options := parse(t, strings.Fields(args)...)
		if err := options.validate(); (err == nil) != (says == "") || err != nil && err.Error() != says {
			t.Errorf("%s: %v, want %q", args, err, says)
		}
	}
	for args, says := range map[string]string{
		"--mover-limits=gpu=1":         "must be like cpu=250m,memory=256Mi, with cpu, memory and ephemeral-storage",
		"--mover-limits=4":             "must be like cpu=250m,memory=256Mi, with cpu, memory and ephemeral-storage",
		"--mover-limits=cpu=1,":        "must be like cpu=250m,memory=256Mi, with cpu, memory and ephemeral-storage",
		"--mover-limits=cpu=much":      `cpu: "much" is not an amount above 0, such as 500m or 4Gi`,
		"--mover-requests=cpu=0":       `cpu: "0" is not an amount above 0, such as 500m or 4Gi`,
		"--mover-requests=cpu=1,cpu=2": "cpu is set twice",
	} {
		options := defaultOptions()
		flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
		options.addFlags(flags)
		flag, _, _ := strings.Cut(args, "=")
		if err := flags.Parse([]string{args}); err == nil || !strings.Contains(err.Error(), `"`+flag+`" flag: `+says) {
			t.Errorf("%s: %v, want %q", args, err, says)
		}
	}
}

// A manager without Workspaces caches no Pods and Jobs; one with Workspaces caches only those with Kyklos'
// label.
func TestWorkspaceCaches(t *testing.T) {
	for args, want := range map[string]bool{"--workspaces": true, "--workspaces=false": false} {
		options := parse(t, args)
		found := 0
		for object, by := range options.cacheOptions().ByObject {
			switch object.(type) {
			case *corev1.Pod, *corev1.PersistentVolumeClaim, *batchv1.Job:
				found++
				if got := by.Label.String(); got != "app.kubernetes.io/managed-by=kyklos" {
					t.Errorf("%T are restricted to %q", object, got)
				}
			}
		}
		if found != 3 && want || found != 0 && !want {
			t.Errorf("%s: %d of 3 kinds are cached", args, found)
		}
	}
}
