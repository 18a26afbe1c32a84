package install

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// home is a Workspace that runs a program and archives its home.
const home = `{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: home}, spec: {image: "%s", args: ["600"], terminationGracePeriodSeconds: 5, activity: {connections: false}, ` +
	`storage: {storageClassName: standard, size: 1Gi}, archive: {storeRef: {name: store}}, deletionPolicy: ArchiveThenDelete}}`

// heartbeat is one of that Workspace.
const heartbeat = `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: ws-home-activity}, spec: {renewTime: "%s"}}`

// exerciseWorkspace has the manager take a Workspace through all states: it stops the idle Workspace, grows its volume, archives
// its home (although it is killed between creating the mover's Secret and the Job), restores it, and deletes it, which
// archives it again. Then the Secret of the store is deleted, and the garbage collector reports that.
func (s *scenario) exerciseWorkspace(namespace string, args ...string) {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	proxy := s.StartProxy()
	clock := harness.Clock(filepath.Join(s.TempDir(), "clock"))
	options := harness.ManagerOptions{
		Args:   append(args, "--leader-elect=false", "--archive-gc-interval=1m", "--archive-loopback", "--mover-image="+harness.HostImage(kyklos)),
		Binary: movable, Env: []string{clock.Env()},
	}
	mortal := options
	mortal.Proxy = proxy
	s.startStore(namespace)
	m := s.start(mortal)
	s.Kubectl(fmt.Sprintf(home, harness.HostImage("/bin/sleep")), "apply", "-n", namespace, "-f", "-")
	s.awaitState(namespace, "RUNNING")
	s.Kubectl(fmt.Sprintf(heartbeat, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")), "apply", "-n", namespace, "-f", "-")
	s.changeWorkspace(namespace, `"standbyTTLSeconds":1`)
	s.awaitState(namespace, "STANDBY") // it was idle
	s.exerciseService(namespace)
	s.changeWorkspace(namespace, `"storage":{"size":"2Gi"}`)
	dead := make(chan error, 1)
	proxy.Inject(func(r harness.Request, after bool) {
		if after && r.Is(http.MethodPost, "/secrets") && len(dead) == 0 {
			dead <- m.Kill()
		}
	})
	s.changeWorkspace(namespace, `"desiredState":"PENDING"`)
	select {
	case <-dead:
	case <-time.After(harness.Patience):
		s.Fatal("the manager created no Secret for the mover")
	}

	m = s.start(options)
	s.awaitState(namespace, "ARCHIVED")
	s.changeWorkspace(namespace, `"desiredState":"STANDBY"`)
	s.awaitState(namespace, "STANDBY")
	s.Kubectl("", "get", "configmap", "kyklos-archive-gc", "-n", harness.SystemNamespace)
	s.Kubectl("", "delete", "workspace", "home", "-n", namespace, "--timeout="+harness.Patience.String())
	s.Must(m.Stop())
	s.Kubectl("", "delete", "secret", "store", "-n", namespace)
	s.Must(clock.Shift(6 * time.Minute))
	options.Args, options.Env = options.Args[:len(options.Args)-1], append(options.Env, "POD_NAME="+s.managerPod()) // has the movers' image
	m = s.start(options)
	s.awaitOutput("ArchiveStoreLost", "-n", harness.SystemNamespace, "events", "--field-selector=reason=ArchiveStoreLost", "-o=jsonpath={.items[*].reason}")
	s.Must(m.Stop())
}

// managerPod creates a Pod that looks like the manager's, and returns its name.
func (s *scenario) managerPod() string {
	s.Helper()
	const name = "kyklos-manager-0"
	s.Kubectl(`{apiVersion: v1, kind: Pod, metadata: {name: `+name+`}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [
  {name: manager, image: "kyklos:latest", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}`,
		"apply", "-n", harness.SystemNamespace, "-f", "-")
	return name
}

// startStore starts an object store and makes the Secret that leads to it.
func (s *scenario) startStore(namespace string) {
	s.Helper()
	store, err := harness.StartObjectStore(s.Context(), filepath.Join(s.TempDir(), "store"), nil)
	s.Must(err)
	s.Cleanup(func() { _ = store.Stop() })
	s.Kubectl("", "create", "secret", "generic", "store", "-n", namespace, "--from-literal=endpoint="+store.Endpoint, "--from-literal=region=us-east-1",
		"--from-literal=bucket="+store.Bucket, "--from-literal=accessKeyID="+store.AccessKeyID, "--from-literal=secretAccessKey="+store.SecretAccessKey)
}

// changeWorkspace merges a part of spec into that of the Workspace.
func (s *scenario) changeWorkspace(namespace, spec string) {
	s.Helper()
	s.Kubectl("", "patch", "workspace", "home", "-n", namespace, "--type=merge", "-p", `{"spec":{`+spec+`}}`)
}

func (s *scenario) awaitState(namespace, state string) {
	s.Helper()
	s.awaitField(namespace, "workspace/home", "{.status.displayState}", state)
	s.awaitField(namespace, "workspace/home", `{.status.conditions[?(@.type=="Ready")].status}`, "True")
	if warned, _ := s.Kubectl("", "get", "events", "-n", namespace, "--field-selector=type=Warning,involvedObject.kind=Workspace", "-o=jsonpath={.items[*].reason}"); strings.TrimSpace(warned) != "" {
		s.Errorf("before the state %s: got the warnings %s", state, warned)
	}
}

// exerciseService has the manager mend the Workspace's Service, delete it and create it again.
func (s *scenario) exerciseService(namespace string) {
	s.Helper()
	s.Kubectl("", "patch", "service", "ws-home", "-n", namespace, "--type=merge", "-p", `{"spec":{"selector":{"kyklos.io/role":"other"}}}`)
	s.awaitField(namespace, "service/ws-home", `{.spec.selector.kyklos\.io/role}`, "workspace")
	s.changeWorkspace(namespace, `"ports":[]`)
	s.awaitField(namespace, "workspace/home", `{.status.conditions[?(@.type=="ServiceReady")].reason}`, "NoPorts")
	s.changeWorkspace(namespace, `"ports":[9090]`)
	s.awaitField(namespace, "workspace/home", "{.status.address}", "ws-home."+namespace+".svc:9090")
}
