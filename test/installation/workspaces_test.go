package installation

import (
	"fmt"
	"path/filepath"
	"strings"

	"kyklos.io/kyklos/test/controlplane"
)

// home is a Workspace of the program, with a home in the archive of the Secret store.
const home = `{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: home}, spec: {image: "%s", args: ["600"], terminationGracePeriodSeconds: 5, ` +
	`storage: {storageClassName: standard, size: 1Gi}, archive: {storeRef: {name: store}}, deletionPolicy: ArchiveThenDelete}}`

// keepsHomes has the manager take a Workspace through all states, put its home away and fetch it back, grow
// its volume, and delete it, which archives it again.
func (s *site) keepsHomes(namespace string, args ...string) {
	s.Helper()
	store, err := controlplane.StartObjectStore(s.Context(), filepath.Join(s.TempDir(), "store"), nil)
	s.must(err)
	s.Cleanup(func() { _ = store.Stop() })
	kyklos, err := controlplane.Binary("kyklos")
	s.must(err)
	s.kubectl("", "create", "secret", "generic", "store", "-n", namespace, "--from-literal=endpoint="+store.Endpoint, "--from-literal=region=us-east-1",
		"--from-literal=bucket="+store.Bucket, "--from-literal=accessKeyID="+store.AccessKeyID, "--from-literal=secretAccessKey="+store.SecretAccessKey)
	m := s.manager(controlplane.ManagerOptions{Args: append(args, "--mover-image="+controlplane.HostImage(kyklos))})
	s.kubectl(fmt.Sprintf(home, controlplane.HostImage("/bin/sleep")), "apply", "-n", namespace, "-f", "-")
	s.shows(namespace, "RUNNING")
	s.wants(namespace, `"storage":{"size":"2Gi"}`)
	s.wants(namespace, `"desiredState":"PENDING"`)
	s.shows(namespace, "ARCHIVED")
	s.wants(namespace, `"desiredState":"STANDBY"`)
	s.shows(namespace, "STANDBY")
	s.kubectl("", "delete", "workspace", "home", "-n", namespace, "--timeout="+patience.String())
	s.must(m.Stop())
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
