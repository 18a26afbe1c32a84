package installation

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// home is a Workspace of the program, with a home in the archive of the Secret store.
const home = `{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: home}, spec: {image: "%s", args: ["600"], terminationGracePeriodSeconds: 5, ` +
	`storage: {storageClassName: standard, size: 1Gi}, archive: {storeRef: {name: store}}, deletionPolicy: ArchiveThenDelete}}`

// keepsHomes has the manager take a Workspace through all states, stop it for want of use, put its home away, although it dies
// between a mover's ticket and the Job, fetch it back, grow its volume, and delete it, which archives it
// again; and then miss the store in which the archives are left behind.
func (s *site) keepsHomes(namespace string, args ...string) {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.must(err)
	proxy, err := s.cluster.StartProxy()
	s.must(err)
	s.Cleanup(proxy.Close)
	clock := harness.Clock(filepath.Join(s.TempDir(), "clock"))
	options := harness.ManagerOptions{
		Args:   append(args, "--leader-elect=false", "--archive-gc-interval=1m", "--mover-image="+harness.HostImage(kyklos)),
		Binary: movable, Env: []string{clock.Env()},
	}
	mortal := options
	mortal.Proxy = proxy
	s.storesArchives(namespace)
	m := s.manager(mortal)
	s.kubectl(fmt.Sprintf(home, harness.HostImage("/bin/sleep")), "apply", "-n", namespace, "-f", "-")
	s.shows(namespace, "RUNNING")
	s.wants(namespace, `"standbyTTLSeconds":1`)
	s.shows(namespace, "STANDBY") // nobody has used it
	s.wants(namespace, `"storage":{"size":"2Gi"}`)
	dead := make(chan error, 1)
	proxy.Inject(func(r harness.Request, after bool) {
		if after && r.Is(http.MethodPost, "/secrets") && len(dead) == 0 {
			dead <- m.Kill()
		}
	})
	s.wants(namespace, `"desiredState":"PENDING"`)
	select {
	case <-dead:
	case <-time.After(patience):
		s.Fatal("no ticket was made")
	}

	m = s.manager(options)
	s.shows(namespace, "ARCHIVED")
	s.wants(namespace, `"desiredState":"STANDBY"`)
	s.shows(namespace, "STANDBY")
	s.kubectl("", "get", "configmap", "kyklos-archive-gc", "-n", harness.SystemNamespace)
	s.kubectl("", "delete", "workspace", "home", "-n", namespace, "--timeout="+patience.String())
	s.must(m.Stop())
	s.kubectl("", "delete", "secret", "store", "-n", namespace)
	s.must(clock.Shift(6 * time.Minute))
	m = s.manager(options)
	s.reads("ArchiveStoreLost", "-n", harness.SystemNamespace, "events", "--field-selector=reason=ArchiveStoreLost", "-o=jsonpath={.items[*].reason}")
	s.must(m.Stop())
}

// storesArchives starts an object store and makes the Secret that leads to it.
func (s *site) storesArchives(namespace string) {
	s.Helper()
	store, err := harness.StartObjectStore(s.Context(), filepath.Join(s.TempDir(), "store"), nil)
	s.must(err)
	s.Cleanup(func() { _ = store.Stop() })
	s.kubectl("", "create", "secret", "generic", "store", "-n", namespace, "--from-literal=endpoint="+store.Endpoint, "--from-literal=region=us-east-1",
		"--from-literal=bucket="+store.Bucket, "--from-literal=accessKeyID="+store.AccessKeyID, "--from-literal=secretAccessKey="+store.SecretAccessKey)
}

// wants merges a part of spec into that of the Workspace.
func (s *site) wants(namespace, spec string) {
	s.Helper()
	s.kubectl("", "patch", "workspace", "home", "-n", namespace, "--type=merge", "-p", `{"spec":{`+spec+`}}`)
}

func (s *site) shows(namespace, state string) {
	s.Helper()
	s.awaits(namespace, "workspace/home", "{.status.displayState}", state)
	s.awaits(namespace, "workspace/home", `{.status.conditions[?(@.type=="Ready")].status}`, "True")
	if warned, _ := s.kubectl("", "get", "events", "-n", namespace, "--field-selector=type=Warning,involvedObject.kind=Workspace", "-o=jsonpath={.items[*].reason}"); strings.TrimSpace(warned) != "" {
		s.Errorf("on the way to %s there were warnings: %s", state, warned)
	}
}
