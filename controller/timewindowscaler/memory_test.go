package timewindowscaler

import (
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Each scaler has its own state until it is forgotten.
func TestMemoryIsPerScaler(t *testing.T) {
	var m memory
	web, api := types.NamespacedName{Namespace: "shop", Name: "web"}, types.NamespacedName{Namespace: "shop", Name: "api"}
	m.of(web).fight.Rewrites = 3
	if m.of(web).fight.Rewrites != 3 || m.of(api).fight.Rewrites != 0 {
		t.Errorf("web %d, api %d", m.of(web).fight.Rewrites, m.of(api).fight.Rewrites)
	}
	m.forget(api)
	m.forget(web)
	if m.of(web).fight.Rewrites != 0 {
		t.Error("not forgotten")
	}
}

func TestMemoryFromManyWorkers(t *testing.T) {
	var m memory
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := types.NamespacedName{Name: fmt.Sprint(i)}
			for range 100 {
				m.of(key).fight.Rewrites++
			}
			m.forget(types.NamespacedName{Name: "gone"})
		})
	}
	all.Wait()
	for i := range 8 {
		if got := m.of(types.NamespacedName{Name: fmt.Sprint(i)}).fight.Rewrites; got != 100 {
			t.Errorf("scaler %d: %d", i, got)
		}
	}
}
