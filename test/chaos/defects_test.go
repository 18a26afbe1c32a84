package chaos

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// Each defect in the table of doc.go has an existing test.
func TestDefectsAreTested(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	harness.Must(t, err)
	tested := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(D\d+) .* (\S+)\.(Test\w+)$`).FindAllStringSubmatch(string(text), -1) {
		files, err := filepath.Glob(filepath.Join(harness.RootFor(t), row[2], "*_test.go"))
		harness.Must(t, err)
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			found = found || err == nil && strings.Contains(string(source), "func "+row[3]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("%s: there is no %s in %s", row[1], row[3], row[2])
		}
		tested[row[1]] = true
	}
	for _, defect := range strings.Fields("D1 D2 D3 D4 D5 D6 D7 D10 D12 D14 D15 D17 D18 D20 D23") {
		if !tested[defect] {
			t.Errorf("%s has no test", defect)
		}
	}
}

// holdUpload holds the cohort's one Workspace at the request by which its mover completes the upload.
func (c *cohort) holdUpload() (name string) {
	c.Helper()
	name = c.names[0]
	for _, s := range life[:archiving] {
		c.runStep(s, c.names, nil)
	}
	c.gate.victims[name] = &victim{name: "none", concerns: func(m moment) bool { return m.actor == "mover" && !m.reads }, kill: func(*cohort, func()) {}}
	c.gate.reset(map[string]moment{name: {actor: "mover", what: "POST upload", stored: true, nth: 1}})
	life[archiving].begin(c, name)
	if c.run(life[archiving], c.names) != 1 {
		c.Fatal("the mover never completed its upload")
	}
	return name
}

// D10: the manager is down for nine hours, far longer than archiving may take. The mover ends meanwhile. The operation
// completes and does not time out.
func TestManagerAwayForHours(t *testing.T) {
	c := newCohort(t, 1, store)
	m := c.start()
	name := c.holdUpload()
	c.Must(m.Kill())
	c.gate.release(nil) // its request is lost, and it sends it again
	c.Eventually("the archive", func() error {
		uid, _ := c.ledger.lookup(name)
		_, err := c.ledger.runsInArchive(uid)
		return err
	})
	c.Must(c.clock.Shift(9 * time.Hour))
	c.start()
	c.run(life[archiving], c.names)
	c.verify(name, "in the end")
	if jobs := c.proxy.Requests(func(r harness.Request) bool { return r.Is(http.MethodPost, "/jobs") }); len(jobs) != 1 {
		t.Errorf("got %d movers, want 1", len(jobs))
	}
}

// D23: the Secret names another bucket, which exists. Nothing is lost, and the message names both buckets.
func TestArchiveInAnotherBucketIsNotLost(t *testing.T) {
	c := newCohort(t, 1, store)
	c.start()
	for _, s := range life[:restoring] {
		c.runStep(s, c.names, nil)
	}
	c.Must(os.MkdirAll(filepath.Join(filepath.Dir(store.Folder), "elsewhere"), 0o700))
	c.setStore("bucket", "elsewhere")
	ws := c.named(c.names[0])
	life[restoring].begin(c, ws.Name)
	c.Eventually("the error", func() error {
		c.Get(c.Namespace, ws.Name, ws)
		if e := ws.Status.Error; e == nil || e.Code != v1alpha1.ReasonArchiveElsewhere || !strings.Contains(e.Message, "/"+store.Bucket+"/.") || !strings.HasSuffix(e.Context["store"], "/elsewhere/") {
			return fmt.Errorf("%+v", ws.Status)
		}
		return nil
	})
	c.setStore("bucket", store.Bucket)
	c.run(life[restoring], c.names)
	c.verify(ws.Name, "in the end")
}

// D12: the user wants the home back while a mover archives it. Kyklos does not wait for the mover, and nothing is lost.
func TestTurnBack(t *testing.T) {
	c := newCohort(t, 1, store)
	c.start()
	name := c.holdUpload()
	life[starting].begin(c, name)
	c.Eventually("running again, with the mover held", func() error {
		ws := c.named(name)
		c.Get(c.Namespace, name, ws)
		if !c.reached(name, life[starting], ws) {
			return errors.New(harness.Show(ws.Status))
		}
		return nil
	})
	c.gate.release(nil)
	c.verify(name, "in the end")
	if ws := c.named(name); admin.Get(t.Context(), client.ObjectKeyFromObject(ws), ws) != nil || ws.Status.ArchiveKey != "" {
		t.Errorf("got the archive %q, want none", ws.Status.ArchiveKey)
	}
}
