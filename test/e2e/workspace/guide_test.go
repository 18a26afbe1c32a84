package workspace

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The first four commands of the guide archive the home of make run's sample and restore it. Each command prints what the
// guide shows.
func TestGuide(t *testing.T) {
	t.Parallel()
	s := &scenario{&fixtures.Workspaces{T: harness.NewT(t, cluster), Namespace: "studio", Store: store}}
	s.applySample()
	s.Start(nil)
	if left, _ := filepath.Glob(filepath.Join(s.Cluster.Dir, "manager*")); len(left) > 0 {
		t.Errorf("the manager left the files %q", left)
	}
	s.mia(func(ws *v1alpha1.Workspace) bool { return fixtures.IsSettled(ws, fixtures.Running) })
	folder := s.miasHome()
	s.Eventually("the first line", func() error {
		line, err := os.ReadFile(filepath.Join(folder, "starts.txt"))
		if err == nil && len(line) == 0 {
			err = errors.New("the file is empty")
		}
		return err
	})
	fixtures.FillHome(t, folder)
	before := fixtures.Tree(t, folder)

	blocks, err := harness.ReadConsole(harness.RootFor(t), "docs/workspaces.md")
	s.Must(err)
	var commands []harness.Command
	for _, block := range blocks {
		commands = append(commands, block.Commands...)
	}
	if len(commands) < 5 {
		t.Fatalf("the guide shows %d commands", len(commands))
	}
	s.run(commands[:2])
	s.gone(folder)
	s.run(commands[2:4])
	after := fixtures.Tree(t, s.miasHome())
	delete(before, "starts.txt") // each start appends a line
	delete(after, "starts.txt")
	if got := fixtures.TreeDifferences(before, after); got != "" {
		t.Errorf("the restored home differs:\n%s", got)
	}
	s.run(commands[4:])
	s.mia(func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })
}

// applySample applies the Workspace of make run, with the tests' store.
func (s *scenario) applySample() {
	s.Helper()
	folder := filepath.Join(harness.RootFor(s), "config", "samples", "workspaces", "local")
	s.Kubectl("", "apply", "-f", filepath.Join(folder, "mia.yaml"))
	secret, err := template.ParseFiles(filepath.Join(folder, "archive.yaml.tmpl"))
	s.Must(err)
	var manifest bytes.Buffer
	s.Must(secret.Execute(&manifest, store))
	s.Kubectl(manifest.String(), "apply", "-f", "-")
}

// run runs the commands in a shell and compares their output. It waits for the rows of a table, and ignores their last
// column, an age.
func (s *scenario) run(commands []harness.Command) {
	s.Helper()
	for _, c := range commands {
		want := strings.Join(append(c.Shown, ""), "\n")
		isTable := strings.HasPrefix(want, "NAME ")
		s.Eventually(c.Text, func() error {
			shell := exec.CommandContext(s.Context(), "/bin/sh", "-c", c.Text)
			shell.Env = append(os.Environ(), "PATH="+filepath.Join(harness.RootFor(s), "bin")+":"+os.Getenv("PATH"), "KUBECONFIG="+s.Cluster.Kubeconfig)
			printed, err := shell.CombinedOutput()
			if err != nil {
				s.Fatalf("%s: %v: %s", c.Text, err, printed)
			}
			switch same := string(printed) == want; {
			case same || want == "":
				return nil
			case isTable && sameRows(string(printed), want):
				return nil
			case !isTable:
				s.Fatalf("%s: got\n%s\nthe guide shows\n%s", c.Text, printed, want)
			}
			return errors.New(string(printed))
		})
	}
}

// sameRows compares two tables without their last column.
func sameRows(a, b string) bool {
	rows := func(table string) (all []string) {
		for line := range strings.Lines(table) {
			cells := strings.Fields(line)
			all = append(all, strings.Join(cells[:len(cells)-1], " "))
		}
		return all
	}
	return strings.Join(rows(a), "\n") == strings.Join(rows(b), "\n")
}

// mia waits until the sample's Workspace is as wanted. It is empty if the Workspace does not exist.
func (s *scenario) mia(wanted func(*v1alpha1.Workspace) bool) (ws *v1alpha1.Workspace) {
	s.Helper()
	s.Eventually("mia as wanted", func() error {
		ws = &v1alpha1.Workspace{}
		err := s.Client.Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "mia"}, ws)
		if client.IgnoreNotFound(err) == nil && !wanted(ws) {
			err = errors.New(ws.Status.DisplayState)
		} else {
			err = client.IgnoreNotFound(err)
		}
		return err
	})
	return ws
}

func (s *scenario) miasHome() string {
	s.Helper()
	ws := s.mia(func(ws *v1alpha1.Workspace) bool { return ws.Status.Volume != nil && ws.Status.Volume.UID != "" })
	return s.HomeOn(ws.Status.Volume.UID)
}
