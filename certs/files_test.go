package certs

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

const serviceName = "kyklos-webhook.kyklos-system.svc"

// mounted starts nothing: the test reads the files itself, at the clock's time.
func mounted(t testing.TB, dir string, names ...string) (*Mounted, *testingclock.FakePassiveClock) {
	t.Helper()
	now := testingclock.NewFakePassiveClock(noon)
	m, err := NewMounted(MountedOptions{Dir: dir, DNSNames: names, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	return m, now
}

func with(contents map[string][]byte, file string, content []byte) map[string][]byte {
	changed := maps.Clone(contents)
	if changed[file] = content; content == nil {
		delete(changed, file)
	}
	return changed
}

// badFiles are the contents of a volume by the message about them; DIR
// is the folder.
func badFiles(t testing.TB) map[string]map[string][]byte {
	t.Helper()
	ca := NewAuthority(t, noon.Add(-time.Hour), noon.Add(time.Hour))
	good := ca.Issue(t, noon, noon.Add(time.Hour), serviceName)
	other := ca.Issue(t, noon, noon.Add(time.Hour), serviceName)
	broken := []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	return map[string]map[string][]byte{
		"DIR/tls.crt does not exist: the Secret mounted at DIR needs the key tls.crt": with(good, "tls.crt", nil),
		"DIR/tls.key does not exist: the Secret mounted at DIR needs the key tls.key": with(good, "tls.key", nil),
		"DIR/tls.crt does not exist: the Secret mounted at DIR needs the key tls.crt\n" +
			"DIR/tls.key does not exist: the Secret mounted at DIR needs the key tls.key": {},
		"DIR/tls.crt holds no certificate: it needs a PEM block CERTIFICATE, the serving certificate first": with(good, "tls.crt", good["tls.key"]),
		"DIR/tls.crt holds a broken certificate: x509: malformed certificate":                               with(good, "tls.crt", broken),
		"DIR/tls.key holds no private key: it needs a PEM block PRIVATE KEY":                                with(good, "tls.key", []byte("secret")),
		"DIR/tls.key is not the key of the first certificate in DIR/tls.crt, both must come from one pair: tls: private key does not match public key": with(
			good, "tls.key", other["tls.key"]),
		"the certificate in DIR/tls.crt expired at 2026-03-02T11:59:59Z: renew it":                              ca.Issue(t, noon.Add(-time.Hour), noon.Add(-time.Second), serviceName),
		"the certificate in DIR/tls.crt is not valid before 2026-03-02T12:00:01Z: wait, or set the clock right": ca.Issue(t, noon.Add(time.Second), noon.Add(time.Hour), serviceName),
		"the certificate in DIR/tls.crt is for no name at all, but the webhooks are called by " + callersNames:  ca.Issue(t, noon, noon.Add(time.Hour)),
		"the certificate in DIR/tls.crt is for a.example, 10.0.0.1, but the webhooks are called by " + callersNames: ca.Issue(
			t, noon, noon.Add(time.Hour), "a.example", "10.0.0.1"),
		"DIR/tls.crt holds the certificate of a CA (CN=kyklos-ca) and not one for the webhooks: mount the Secret of the serving certificate": ca.Own(t),
	}
}

const callersNames = serviceName + ", 127.0.0.1: issue it for one of these"

func TestBadStartsSayWhatIsWrong(t *testing.T) {
	for want, contents := range badFiles(t) {
		t.Run(want, func(t *testing.T) {
			folder := NewFolder(t)
			if err := folder.Write(contents); err != nil {
				t.Fatal(err)
			}
			says(t, folder.Dir, want)
		})
	}
}

func TestBadFoldersSayWhatIsWrong(t *testing.T) {
	empty := t.TempDir()
	says(t, empty, "the folder DIR is empty: the Secret mounted there needs the keys tls.crt and tls.key")
	says(t, filepath.Join(empty, "none"), "the folder DIR does not exist: mount the Secret of the certificate there")
	file := filepath.Join(empty, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, file, "cannot read the folder: open DIR: not a directory")
	if err := os.MkdirAll(filepath.Join(empty, "folders", "tls.crt"), 0o755); err != nil {
		t.Fatal(err)
	}
	says(t, filepath.Join(empty, "folders"), "cannot read the certificate: read DIR/tls.crt: is a directory\n"+
		"DIR/tls.key does not exist: the Secret mounted at DIR needs the key tls.key")
}

// says checks that a start with the folder serves nothing and gives the reason.
func says(t *testing.T, dir, want string) {
	t.Helper()
	m, _ := mounted(t, dir, serviceName, "127.0.0.1")
	if err := m.Ready(nil); err == nil || err.Error() != "the files in "+dir+" have not been read yet" {
		t.Errorf("before the first read: %v", err)
	}
	m.refresh()
	if m.served() != nil {
		t.Error("a certificate is served")
	}
	err := m.Ready(nil)
	if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if got := filesBad(t); got != 1 {
		t.Errorf("the metric says %v, want 1", got)
	}
}

// Files of two generations are never combined, at whatever time between the
// changes they are read.
func TestGenerationsAreNotMixed(t *testing.T) {
	ca, folder := NewAuthority(t, noon, noon.Add(time.Hour)), NewFolder(t)
	generations := []map[string][]byte{}
	for range 2 {
		generations = append(generations, ca.Issue(t, noon, noon.Add(time.Hour), serviceName))
	}
	if err := folder.Write(generations[0]); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		for i := range 300 {
			if err := folder.Write(generations[i%2]); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for good := 0; ; {
		select {
		case err := <-done:
			if err != nil || good == 0 {
				t.Fatalf("%d reads, %v", good, err)
			}
			return
		default:
		}
		read, err := readFiles(folder.Dir)
		if err != nil {
			continue // the generation was removed meanwhile
		}
		if _, err := read.pair(folder.Dir); err != nil {
			t.Fatal(err)
		}
		good++
	}
}

// A read between the removal of a generation and the next one finds no files. It does not
// combine files that the links point to a moment later.
func TestGenerationThatIsGone(t *testing.T) {
	ca, dir := NewAuthority(t, noon, noon.Add(time.Hour)), t.TempDir()
	for name, content := range ca.Issue(t, noon, noon.Add(time.Hour), serviceName) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..generation_1", filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	if read, err := readFiles(dir); err == nil {
		t.Errorf("files are taken around ..data: %d bytes", len(read.cert))
	}
}

// The page on certificates quotes the messages.
func TestPageQuotesTheMessages(t *testing.T) {
	page, err := os.ReadFile("../docs/certificates.md")
	if err != nil {
		t.Fatal(err)
	}
	said := badFiles(t)
	said["the folder DIR is empty: the Secret mounted there needs the keys tls.crt and tls.key"] = nil // TestBadFoldersSayWhatIsWrong
	said["the folder DIR does not exist: mount the Secret of the certificate there"] = nil
	_, table, _ := strings.Cut(string(page), "\n| Said of /etc/kyklos/webhook-cert |")
	quotes := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 {
			if quotes > 0 {
				break
			}
			continue
		}
		quotes++
		if _, ok := said[strings.TrimPrefix(cells[0], "| ")]; !ok {
			t.Errorf("no test produces %q", strings.TrimPrefix(cells[0], "| "))
		}
	}
	if quotes < 5 {
		t.Errorf("%d quotes were found", quotes)
	}
}
