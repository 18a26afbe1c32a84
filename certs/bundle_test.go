package certs

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMergeBundle(t *testing.T) {
	valid := noon.Add(time.Hour)
	own, older, foreign := newCA(t, valid).Certificate, newCA(t, valid).Certificate, newCA(t, valid).Certificate
	expired := newCA(t, noon.Add(-time.Second)).Certificate
	ends := newCA(t, noon).Certificate
	commented := append([]byte("# whose CA this is\n"), bundleOf(foreign, own)...)
	junk := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte("no certificate")})
	broken := pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: []byte("no certificate")})

	for name, c := range map[string]struct {
		bundle  []byte
		own     []*x509.Certificate
		want    []byte
		changed bool
	}{
		"empty":                       {nil, []*x509.Certificate{own}, bundleOf(own), true},
		"placeholder line":            {[]byte("\n"), []*x509.Certificate{own}, bundleOf(own), true},
		"foreign is kept":             {bundleOf(foreign), []*x509.Certificate{own}, bundleOf(foreign, own), true},
		"already there":               {bundleOf(own, foreign), []*x509.Certificate{own}, bundleOf(own, foreign), false},
		"comments are no reason":      {commented, []*x509.Certificate{own}, commented, false},
		"expired is removed":          {bundleOf(expired, own), []*x509.Certificate{own}, bundleOf(own), true},
		"one removed, one added":      {bundleOf(expired, foreign), []*x509.Certificate{own}, bundleOf(foreign, own), true},
		"last second is still valid":  {bundleOf(ends, own), []*x509.Certificate{own}, bundleOf(ends, own), false},
		"duplicate is removed":        {bundleOf(own, own), []*x509.Certificate{own}, bundleOf(own), true},
		"older own CA is restored":    {bundleOf(foreign), []*x509.Certificate{older, own}, bundleOf(foreign, older, own), true},
		"expired own CA is not added": {bundleOf(own), []*x509.Certificate{expired, own}, bundleOf(own), false},
		"rewrite removes junk":        {slices.Concat(junk, broken, bundleOf(foreign)), []*x509.Certificate{own}, bundleOf(foreign, own), true},
		"junk alone is no reason":     {slices.Concat(junk, bundleOf(own)), []*x509.Certificate{own}, slices.Concat(junk, bundleOf(own)), false},
	} {
		t.Run(name, func(t *testing.T) {
			merged, changed := mergeBundle(c.bundle, c.own, noon)
			if diff := cmp.Diff(string(c.want), string(merged)); diff != "" || changed != c.changed {
				t.Errorf("changed = %t, want %t; bundle (-want +got):\n%s", changed, c.changed, diff)
			}
		})
	}
}

// TestMergeBundleProperties draws bundles and own CAs from a pool whose members
// expire one after the other, at any hour in between.
func TestMergeBundleProperties(t *testing.T) {
	var pool []*x509.Certificate
	for hours := range 8 {
		pool = append(pool, newCA(t, noon.Add(time.Duration(hours)*time.Hour)).Certificate)
	}
	some := rapid.SliceOfN(rapid.SampledFrom(pool), 0, 10)

	rapid.Check(t, func(t *rapid.T) {
		before := some.Draw(t, "bundle")
		ownA, ownB := some.Draw(t, "own"), some.Draw(t, "own of another replica")
		now := noon.Add(time.Duration(rapid.IntRange(0, 8*60).Draw(t, "minutes")) * time.Minute)

		merged, changed := mergeBundle(bundleOf(before...), ownA, now)
		after := parseBundle(merged)
		if want := unexpired(slices.Concat(before, ownA), now); !slices.EqualFunc(after, want, (*x509.Certificate).Equal) {
			t.Fatalf("got %d certificates, want the %d valid ones of before and own, in order, once", len(after), len(want))
		}
		if same := string(merged) == string(bundleOf(before...)); same == changed {
			t.Fatalf("changed = %t but same bytes = %t", changed, same)
		}
		if again, changed := mergeBundle(merged, ownA, now); changed || string(again) != string(merged) {
			t.Fatal("a second merge changes something: the replicas would write for ever")
		}

		// Two replicas that know different CAs end with the same trust, in either order.
		ab, _ := mergeBundle(merged, ownB, now)
		b, _ := mergeBundle(bundleOf(before...), ownB, now)
		ba, _ := mergeBundle(b, ownA, now)
		if diff := cmp.Diff(trusted(ab), trusted(ba)); diff != "" {
			t.Fatalf("the order of writers matters (-ab +ba):\n%s", diff)
		}
	})
}

func trusted(bundle []byte) []string {
	var raw []string
	for _, cert := range parseBundle(bundle) {
		raw = append(raw, string(cert.Raw))
	}
	slices.Sort(raw)
	return raw
}
