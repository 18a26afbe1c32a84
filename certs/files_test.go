package certs

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"kyklos.io/kyklos/internal/golden"
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

// badFiles are the contents of a volume by what is wrong with them.
func badFiles(t testing.TB) map[string]map[string][]byte {
	t.Helper()
	ca := NewAuthority(t, noon.Add(-time.Hour), noon.Add(time.Hour))
	good := ca.Issue(t, noon, noon.Add(time.Hour), serviceName)
	other := ca.Issue(t, noon, noon.Add(time.Hour), serviceName)
	broken := []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	return map[string]map[string][]byte{
		"no certificate":            with(good, "tls.crt", nil),
		"no key":                    with(good, "tls.key", nil),
		"neither":                   {},
		"a key for the certificate": with(good, "tls.crt", good["tls.key"]),
		"a broken certificate":      with(good, "tls.crt", broken),
		"no PEM in the key":         with(good, "tls.key", []byte("secret")),
		"the key of another certificate": with(
			good, "tls.key", other["tls.key"]),
		"expired":     ca.Issue(t, noon.Add(-time.Hour), noon.Add(-time.Second), serviceName),
		notValidYet:   ca.Issue(t, noon.Add(time.Second), noon.Add(time.Hour), serviceName),
		"for no name": ca.Issue(t, noon, noon.Add(time.Hour)),
		"for other names": ca.Issue(
			t, noon, noon.Add(time.Hour), "a.example", "10.0.0.1"),
		"a CA's own": ca.Own(t),
	}
}

const notValidYet = "not valid yet"

func TestBadStartsSayWhatIsWrong(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, contents := range badFiles(t) {
		t.Run(name, func(t *testing.T) {
			folder := NewFolder(t)
			if err := folder.Write(contents); err != nil {
				t.Fatal(err)
			}
			startsBadly(t, folder.Dir, name, messages)
		})
	}
}

func TestBadFoldersSayWhatIsWrong(t *testing.T) {
	empty := t.TempDir()
	messages := golden.NewMessages(t)
	startsBadly(t, empty, "empty", messages)
	startsBadly(t, filepath.Join(empty, "none"), "missing", messages)
	file := filepath.Join(empty, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	startsBadly(t, file, "a file", messages)
	if err := os.MkdirAll(filepath.Join(empty, "folders", "tls.crt"), 0o755); err != nil {
		t.Fatal(err)
	}
	startsBadly(t, filepath.Join(empty, "folders"), "a folder for the certificate", messages)
}

// startsBadly checks that a start with the folder serves nothing and gives the reason, in which DIR is the folder.
func startsBadly(t *testing.T, dir, name string, messages *golden.Messages) {
	t.Helper()
	m, _ := mounted(t, dir, serviceName, "127.0.0.1")
	reason := func(name string) {
		t.Helper()
		err := m.Ready(nil)
		if err == nil {
			t.Fatalf("%s: ready", name)
		}
		messages.Add(name, strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
	reason("not read yet")
	m.refresh()
	if m.served() != nil {
		t.Error("a certificate is served")
	}
	reason(name)
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
	messages, err := os.ReadFile("testdata/messages.golden")
	if err != nil {
		t.Fatal(err)
	}
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
		if quote := strings.TrimPrefix(cells[0], "| "); !strings.Contains(string(messages), "\n"+quote+"\n\n") {
			t.Errorf("no test produces %q", quote)
		}
	}
	if quotes < 5 {
		t.Errorf("%d quotes were found", quotes)
	}
}
