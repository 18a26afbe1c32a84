package certs

import (
	"bytes"
	"crypto/tls"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/golden"
)

// gauge returns what a scrape would see.
func gauge(t testing.TB, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func filesBad(t testing.TB) float64 {
	t.Helper()
	return gauge(t, "kyklos_webhook_certificate_files_bad")
}

func TestNewMountedNamesTheWrongOption(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, c := range map[string]struct {
		edit func(*MountedOptions)
		want string // the option, empty: accepted
	}{
		"no callers": {func(*MountedOptions) {}, ""},
		"no cluster": {func(o *MountedOptions) { o.CustomResourceDefinitions = []string{"a"} }, "RESTConfig"},
		"no folder":  {func(o *MountedOptions) { o.Dir = "" }, "Dir"},
		"no name":    {func(o *MountedOptions) { o.DNSNames = nil }, "DNSNames"},
		"no time":    {func(o *MountedOptions) { o.Pace = -1 }, "Pace"},
		"bad cluster": {func(o *MountedOptions) {
			o.RESTConfig, o.CustomResourceDefinitions = &rest.Config{Host: "://"}, []string{"a"}
		}, "RESTConfig"},
	} {
		t.Run(name, func(t *testing.T) {
			o := MountedOptions{Dir: "/certs", DNSNames: []string{serviceName}}
			c.edit(&o)
			_, err := NewMounted(o)
			if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), "certs: "+c.want) {
				t.Fatalf("got %v, want one about %q", err, c.want)
			}
			if err != nil {
				messages.Add(name, err.Error())
			}
		})
	}
}

// start writes the files of a good leaf and reads them.
func start(t testing.TB) (*Mounted, *Folder, func(time.Duration) *tls.Certificate, Authority) {
	t.Helper()
	ca, folder := NewAuthority(t, noon.Add(-time.Hour), noon.Add(24*time.Hour)), NewFolder(t)
	m, now := mounted(t, folder.Dir, serviceName, "127.0.0.1")
	write(t, folder, ca.Issue(t, noon, noon.Add(time.Hour), serviceName))
	after := func(d time.Duration) *tls.Certificate {
		now.SetTime(now.Now().Add(d))
		m.refresh()
		return m.served()
	}
	if after(0) == nil || m.Ready(nil) != nil {
		t.Fatalf("the first good files are not served: %v", m.Ready(nil))
	}
	return m, folder, after, ca
}

func write(t testing.TB, folder *Folder, contents map[string][]byte) {
	t.Helper()
	if err := folder.Write(contents); err != nil {
		t.Fatal(err)
	}
}

// serves reports whether the pair is the one that was written.
func serves(pair *tls.Certificate, contents map[string][]byte) bool {
	return pair != nil && bytes.HasPrefix(contents["tls.crt"], bundleOf(pair.Leaf))
}

func TestBadFilesKeepTheLastGoodPair(t *testing.T) {
	for name, contents := range badFiles(t) {
		t.Run(name, func(t *testing.T) {
			m, folder, after, ca := start(t)
			first := m.served()
			write(t, folder, contents)
			if after(0) != first || after(10*time.Minute) != first && name != notValidYet {
				t.Error("given up for bad files")
			}
			if err := m.Ready(nil); err != nil {
				t.Errorf("not ready, though what is served is good: %v", err)
			}
			renewed := ca.Issue(t, noon, noon.Add(2*time.Hour), serviceName)
			write(t, folder, renewed)
			after(0)
			if !serves(after(maxPace), renewed) || filesBad(t) != 0 {
				t.Errorf("good files are not taken; the metric says %v", filesBad(t))
			}
		})
	}
}

func TestVanishedFilesKeepTheLastGoodPair(t *testing.T) {
	m, folder, after, ca := start(t)
	first := m.served()
	if err := os.RemoveAll(folder.Dir); err != nil {
		t.Fatal(err)
	}
	if after(time.Minute) != first || m.Ready(nil) != nil || filesBad(t) != 1 {
		t.Errorf("served %t, ready %v, metric %v", m.served() == first, m.Ready(nil), filesBad(t))
	}
	if err := os.Mkdir(folder.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	renewed := ca.Issue(t, noon, noon.Add(2*time.Hour), serviceName)
	write(t, folder, renewed)
	if after(0) != first || after(maxPace-time.Second) != first || !serves(after(time.Second), renewed) {
		t.Error("the renewed pair is to be served after one pace")
	}
}

// A leaf that is not renewed expires; then the reason names the file, too.
func TestEndOfTheServedCertificate(t *testing.T) {
	m, folder, after, _ := start(t)
	after(time.Hour)
	if err := m.Ready(nil); err != nil {
		t.Errorf("in its last second: %v", err)
	}
	after(time.Second)
	err := m.Ready(nil)
	if err == nil {
		t.Fatal("ready with an expired certificate")
	}
	golden.NewMessages(t).Add("after its last second", strings.ReplaceAll(err.Error(), folder.Dir, "DIR"))
}

func TestMountedMetrics(t *testing.T) {
	const leaf, ca = "kyklos_webhook_certificate_expiry_timestamp_seconds", "kyklos_webhook_ca_expiry_timestamp_seconds"
	start(t)
	if got, want := gauge(t, leaf), noon.Add(time.Hour); got != float64(want.Unix()) {
		t.Errorf("leaf until %v, want %s", got, want)
	}
	if got, want := gauge(t, ca), noon.Add(24*time.Hour); got != float64(want.Unix()) {
		t.Errorf("CA until %v, want %s", got, want)
	}
}

// A certificate that is its own root is served as well, as `openssl req -x509`
// makes one.
func TestSelfSigned(t *testing.T) {
	folder, template := NewFolder(t), caTemplate(noon, noon.Add(time.Hour))
	template.DNSNames = []string{serviceName}
	key := newKey(t)
	cert := sign(t, template, template, key.Public(), key)
	write(t, folder, map[string][]byte{"tls.crt": bundleOf(cert), "tls.key": keyPEM(t, key)})
	m, _ := mounted(t, folder.Dir, serviceName)
	m.refresh()
	if err := m.Ready(nil); err != nil {
		t.Error(err)
	}
	if err := (endpoint{bundle: bundleOf(cert)}).trusts(m.served(), noon); err != nil {
		t.Error(err)
	}
}

func TestIntermediatesCount(t *testing.T) {
	root := NewAuthority(t, noon.Add(-time.Hour), noon.Add(24*time.Hour))
	folder := NewFolder(t)
	m, _ := mounted(t, folder.Dir, serviceName)
	write(t, folder, root.Intermediate(t).Issue(t, noon, noon.Add(time.Hour), serviceName))
	m.refresh()
	e := endpoint{bundle: bundleOf(root.Certificate)}
	if err := e.trusts(m.served(), noon); err != nil {
		t.Errorf("with the intermediate behind the leaf: %v", err)
	}
	alone := &tls.Certificate{Certificate: m.served().Certificate[:1], Leaf: m.served().Leaf}
	if e.trusts(alone, noon) == nil {
		t.Error("trusted without the intermediate: an API server would refuse it")
	}
}

func TestTrustedUntil(t *testing.T) {
	early, late := newCA(t, noon.Add(2*time.Hour)), newCA(t, noon.Add(3*time.Hour))
	leaf := early.leaf(t, "127.0.0.1")
	pair := &tls.Certificate{Leaf: leaf, Certificate: [][]byte{leaf.Raw}}
	if got := trustedUntil(pair, parseBundle(bundleOf(late.Certificate, early.Certificate)), noon); !got.Equal(early.NotAfter) {
		t.Errorf("until %s, want the end of its own CA", got)
	}
	if got := trustedUntil(pair, parseBundle(bundleOf(late.Certificate)), noon); !got.IsZero() {
		t.Errorf("until %s by a CA that did not sign it", got)
	}
	renewed := *early.Certificate
	renewed.NotAfter = noon.Add(5 * time.Hour)
	again := sign(t, &renewed, &renewed, early.key.Public(), early.key)
	if got := trustedUntil(pair, parseBundle(bundleOf(again, early.Certificate)), noon); !got.Equal(again.NotAfter) {
		t.Errorf("until %s, want the later end of the CA renewed with its key", got)
	}
}

// A problem is logged when it starts, once a minute, and when it ends.
func TestProblemsAreLoggedOncePerMinute(t *testing.T) {
	var lines []string
	ca, folder := NewAuthority(t, noon, noon.Add(24*time.Hour)), NewFolder(t)
	m, now := mounted(t, folder.Dir, serviceName)
	m.options.Log = funcr.New(func(_, args string) {
		message, _, _ := strings.Cut(args, `" `)
		_, message, _ = strings.Cut(message, `"msg"="`)
		lines = append(lines, now.Now().Format("04:05 ")+strings.TrimSuffix(message, `"`))
	}, funcr.Options{})
	for second := range 240 {
		switch second {
		case 70, 150:
			write(t, folder, ca.Issue(t, noon, noon.Add(time.Hour), serviceName))
		case 80:
			write(t, folder, map[string][]byte{})
		}
		m.refresh()
		now.SetTime(now.Now().Add(time.Second))
	}
	const bad, waits, serving = "Cannot use the mounted certificate files; retrying",
		"Waiting until the API servers trust the new certificate", "Serving the mounted certificate"
	want := []string{"00:00 " + bad, "01:00 " + bad, "01:10 " + serving, "01:10 The mounted certificate files are valid again",
		"01:20 " + bad, "02:20 " + bad, "02:30 " + waits, "02:30 The mounted certificate files are valid again", "03:30 " + serving}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
