package certs

import (
	"crypto/tls"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world is what a property test knows of a scene's leaves.
type world struct {
	*scene
	order []*tls.Certificate
	since map[*tls.Certificate]time.Time // published without a break; missing while they are not
}

// step lets time pass and then one thing happens: the clock is set; a leaf is issued, by the previous CA or by a new one; a
// new CA is published; all bundles are removed or restored.
func (w *world) step(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 900).Draw(t, "tenths")) * time.Second / 10)
	if rapid.IntRange(0, 9).Draw(t, "the clock is set") == 0 {
		w.now = w.now.Add(time.Duration(rapid.SampledFrom([]int{-87600, -60, -1, 1, 60}).Draw(t, "by minutes")) * time.Minute)
	}
	if rapid.Bool().Draw(t, "issue") {
		before := w.issued
		w.order = append(w.order, w.issue(time.Duration(rapid.IntRange(1, 60).Draw(t, "life"))*time.Minute))
		w.unknown[w.issued] = w.unknown[before] || rapid.IntRange(0, 2).Draw(t, "new CA") == 0
	}
	if rapid.Bool().Draw(t, "publish") {
		w.unknown = map[*tls.Certificate]bool{}
	}
	w.published = rapid.IntRange(0, 5).Draw(t, "published") > 0
	for _, leaf := range w.order {
		if trusted := w.gate.published(leaf, w.now); !trusted {
			delete(w.since, leaf)
		} else if since, known := w.since[leaf]; !known || since.After(w.now) {
			w.since[leaf] = w.now
		}
	}
	w.order = slices.DeleteFunc(w.order, func(leaf *tls.Certificate) bool { // neither new nor published: forgotten
		_, known := w.since[leaf]
		return !known && leaf != w.issued && leaf != w.served
	})
}

// ahead is how far an API server's watch or clock may be behind for a leaf that is not served
// yet, and whether the leaf's CA is published at all.
func (w *world) ahead(leaf *tls.Certificate) (time.Duration, bool) {
	since, known := w.since[leaf]
	return min(testPace, w.now.Sub(since), leaf.Leaf.NotAfter.Sub(w.now)), known
}

// TestGateProperties: in any order of issuing and publishing, no leaf is replaced by one that is more
// likely to be refused, and none is kept while another is at most as likely to be.
func TestGateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{scene: newScene(), since: map[*tls.Certificate]time.Time{}}
		w.order = append(w.order, w.issue(time.Hour))
		served := w.current()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t)
			before, got := served, w.current()
			served = got
			newer := w.order[slices.Index(w.order, before)+1:]
			left, trusted := min(testPace, before.Leaf.NotAfter.Sub(w.now)), w.gate.published(before, w.now)
			sure, known := w.ahead(got)
			switch {
			case got == before:
			case !slices.Contains(newer, got):
				t.Fatal("went back to an older leaf")
			case trusted && left >= 0 && (!known || sure < left):
				t.Fatalf("gave up %s that were left for a leaf sure for %s, published %t", left, sure, known)
			}
			switch {
			case got == before && trusted:
				sure = left
			case got == before:
				sure = min(left, 0)
			}
			for _, leaf := range w.order[slices.Index(w.order, got)+1:] {
				if better, known := w.ahead(leaf); known && better >= sure {
					t.Fatalf("a newer leaf is sure for %s, the served one for %s", better, sure)
				}
			}
		}
	})
}
