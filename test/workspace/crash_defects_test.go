package workspace

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/controlplane"
)

// Every defect has its test, and the table names no other.
func TestDefectsAreTested(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(D\d+) .* (\S+)\.(Test\w+)$`).FindAllStringSubmatch(string(text), -1) {
		files, err := filepath.Glob(filepath.Join("../..", row[2], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
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

// atTheMover holds the one Workspace of the crew where its mover completes the upload.
func (c *crew) atTheMover() (name string) {
	c.Helper()
	name = c.names[0]
	for _, s := range life[:archiving] {
		c.through(s, c.names, nil)
	}
	c.gate.victims[name] = &victim{name: "nobody", concerns: func(m moment) bool { return m.actor == "mover" && !m.reads }, kill: func(*crew, func()) {}}
	c.gate.next(map[string]moment{name: {actor: "mover", what: "POST upload", stored: true, nth: 1}})
	life[archiving].begin(c, name)
	if c.walk(life[archiving], c.names) != 1 {
		c.Fatal("the mover never came to complete its upload")
	}
	return name
}

// D10: the manager is away for nine hours, far longer than archiving may take. The mover ends meanwhile.
// What is done is done, and no time out.
func TestManagerAwayForHours(t *testing.T) {
	c := newCrew(t, 1, store)
	m := c.start()
	name := c.atTheMover()
	c.must(m.Kill())
	c.gate.open(nil) // its request is lost, and it sends it again
	c.eventually("the archive", func() error {
		uid, _ := c.books.of(name)
		_, err := c.books.archived(uid)
		return err
	})
	c.must(c.clock.Shift(9 * time.Hour))
	c.start()
	c.walk(life[archiving], c.names)
	c.audit(name, "in the end")
	if jobs := c.proxy.Requests(func(r controlplane.Request) bool { return r.Is(http.MethodPost, "/jobs") }); len(jobs) != 1 {
		t.Errorf("%d movers were made, want the one that was done", len(jobs))
	}
}

// D23: the Secret names another bucket, which is there. Nothing is lost, and both buckets are told.
func TestAnArchiveInAnotherBucketIsNotLost(t *testing.T) {
	c := newCrew(t, 1, store)
	c.start()
	for _, s := range life[:restoring] {
		c.through(s, c.names, nil)
	}
	point := func(bucket string) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "store"}}
		c.must(admin.Patch(t.Context(), secret, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"stringData":{"bucket":%q}}`, bucket))))
	}
	c.must(os.MkdirAll(filepath.Join(filepath.Dir(store.Folder), "elsewhere"), 0o700))
	point("elsewhere")
	ws := c.named(c.names[0])
	life[restoring].begin(c, ws.Name)
	c.eventually("the news", func() error {
		c.must(admin.Get(t.Context(), client.ObjectKeyFromObject(ws), ws))
		if e := ws.Status.Error; e == nil || e.Code != v1alpha1.ReasonArchiveElsewhere || !strings.Contains(e.Message, "/"+store.Bucket+"/.") || !strings.HasSuffix(e.Context["store"], "/elsewhere/") {
			return fmt.Errorf("%+v", ws.Status)
		}
		return nil
	})
	point(store.Bucket)
	c.walk(life[restoring], c.names)
	c.audit(ws.Name, "in the end")
}

// D12: the home is wanted again while a mover is at work. It is not waited for, and nothing is lost.
func TestTurnBack(t *testing.T) {
	c := newCrew(t, 1, store)
	c.start()
	name := c.atTheMover()
	life[starting].begin(c, name)
	c.eventually("running again, with the mover held", func() error {
		ws := c.named(name)
		c.must(admin.Get(t.Context(), client.ObjectKeyFromObject(ws), ws))
		if !c.arrived(name, life[starting], ws) {
			return errors.New(controlplane.Show(ws.Status))
		}
		return nil
	})
	c.gate.open(nil)
	c.audit(name, "in the end")
	if ws := c.named(name); admin.Get(t.Context(), client.ObjectKeyFromObject(ws), ws) != nil || ws.Status.ArchiveKey != "" {
		t.Errorf("it has the archive %q", ws.Status.ArchiveKey)
	}
}
