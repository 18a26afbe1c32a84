package workspace

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// shown is one command of the guide, and the output that it shows.
type shown struct{ command, output string }

// commandsOf returns the commands of a page that have a prompt, in their order.
func commandsOf(t *testing.T, page string) []shown {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []shown
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				all = append(all, shown{command: strings.TrimSpace(command)})
			} else {
				all[len(all)-1].output += line
			}
		}
	}
	return all
}

// A newcomer archives the home of make run's sample and fetches it back by the first four commands of the
// guide; and each of its commands answers as the guide shows.
func TestGuide(t *testing.T) {
	t.Parallel()
	s := &stage{T: t, namespace: "studio"}
	s.applySample()
	s.manager(nil)
	if left, _ := filepath.Glob(filepath.Join(cluster.Dir, "manager*")); len(left) > 0 {
		t.Errorf("make run would leave behind %q", left)
	}
	s.mia(func(ws *v1alpha1.Workspace) bool { return isSettled(ws, running) })
	folder := s.miasHome()
	s.eventually("its first line", func() error {
		line, err := os.ReadFile(filepath.Join(folder, "starts.txt"))
		if err == nil && len(line) == 0 {
			err = errors.New("there is none")
		}
		return err
	})
	fill(t, folder)
	before := tree(t, folder)

	commands := commandsOf(t, "../../../docs/workspaces.md")
	if len(commands) < 5 {
		t.Fatalf("the guide shows %d commands", len(commands))
	}
	s.run(commands[:2])
	s.gone(folder)
	s.run(commands[2:4])
	after := tree(t, s.miasHome())
	delete(before, "starts.txt") // each start adds a line
	delete(after, "starts.txt")
	if got := differences(before, after); got != "" {
		t.Errorf("the home came back changed:\n%s", got)
	}
	s.run(commands[4:])
	s.mia(func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })
}

// applySample applies the Workspace of make run with the tests' own store.
func (s *stage) applySample() {
	s.Helper()
	const folder = "../../../config/samples/workspaces/local/"
	_, _, err := cluster.Kubectl(s.Context(), "", "apply", "-f", folder+"mia.yaml")
	s.must(err)
	secret, err := template.ParseFiles(folder + "archive.yaml.tmpl")
	s.must(err)
	var manifest bytes.Buffer
	s.must(secret.Execute(&manifest, store))
	_, _, err = cluster.Kubectl(s.Context(), manifest.String(), "apply", "-f", "-")
	s.must(err)
}

// run runs the commands as a shell does, and compares what they print. Tables are waited for, and their
// last column is an age.
func (s *stage) run(commands []shown) {
	s.Helper()
	root, err := harness.Root()
	s.must(err)
	for _, c := range commands {
		isTable := strings.HasPrefix(c.output, "NAME ")
		s.eventually(c.command, func() error {
			shell := exec.CommandContext(s.Context(), "/bin/sh", "-c", c.command)
			shell.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "KUBECONFIG="+cluster.Kubeconfig)
			printed, err := shell.CombinedOutput()
			if err != nil {
				s.Fatalf("%s: %v: %s", c.command, err, printed)
			}
			switch same := string(printed) == c.output; {
			case same || c.output == "":
				return nil
			case isTable && sameRows(string(printed), c.output):
				return nil
			case !isTable:
				s.Fatalf("%s prints\n%s\nthe guide shows\n%s", c.command, printed, c.output)
			}
			return errors.New(string(printed))
		})
	}
}

// sameRows compares two tables but for their last column.
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

// mia waits until the sample's Workspace is as wanted; an empty one if there is none.
func (s *stage) mia(wanted func(*v1alpha1.Workspace) bool) (ws *v1alpha1.Workspace) {
	s.Helper()
	s.eventually("mia as wanted", func() error {
		ws = &v1alpha1.Workspace{}
		err := admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "mia"}, ws)
		if client.IgnoreNotFound(err) == nil && !wanted(ws) {
			err = errors.New(ws.Status.DisplayState)
		} else {
			err = client.IgnoreNotFound(err)
		}
		return err
	})
	return ws
}

func (s *stage) miasHome() string {
	s.Helper()
	ws := s.mia(func(ws *v1alpha1.Workspace) bool { return ws.Status.Volume != nil && ws.Status.Volume.UID != "" })
	return filepath.Join(cluster.VolumeFolder(types.UID(ws.Status.Volume.UID)), "home")
}
