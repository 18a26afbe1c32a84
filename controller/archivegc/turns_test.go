package archivegc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNamespacesTakeTurns(t *testing.T) {
	got := inTurn(map[string][]string{
		"1": {"evil/a"}, "2": {"evil/b"}, "3": {"evil/c", "evil/d"}, "4": {"good/a"}, "5": {"evil/e", "shared/a"}, "6": {"good/b"},
	})
	if want := []string{"1", "4", "5", "2", "6", "3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Whatever one tenant's stores list, and however many there are: the ledger can be written, and what it knows of others' stays.
func TestOneTenantDoesNotFillTheLedger(t *testing.T) {
	orphans := func(count int) map[string][]string {
		digests := make([]string, count)
		for i := range digests {
			digests[i] = digest(fmt.Sprint(i))
		}
		return map[string][]string{"2026-03-02T12:00:00.000001Z": digests}
	}
	stores := map[string]entry{}
	for i := range 5000 {
		id := idOf(fmt.Sprint("evil", i))
		stores[id] = entry{Address: strings.Repeat("a", 1400), Secrets: []string{fmt.Sprint("evil/", i)}, LookedAt: time.Unix(1e9, 0), Orphans: orphans(20)}
	}
	stores["0000000000"] = entry{Address: "a", Secrets: []string{"evil/x"}, Orphans: orphans(50_000)}
	good := entry{Address: "https://s3.example.com/b/", Secrets: []string{"good/a"}, Orphans: orphans(7)}
	stores["ffffffffff"] = good
	data, err := encode(stores)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for id, text := range data {
		size += len(id) + len(text)
	}
	var kept entry
	if err := json.Unmarshal([]byte(data["ffffffffff"]), &kept); err != nil || size > 1<<20 || len(kept.Orphans["2026-03-02T12:00:00.000001Z"]) != 7 {
		t.Errorf("%d bytes, %+v, %v", size, kept, err)
	}
}

func TestFewSecretsOfANamespaceAreRemembered(t *testing.T) {
	got := fewOfEach([]string{"evil/a", "evil/b", "evil/c", "evil/d", "good/a"})
	if want := []string{"evil/a", "evil/b", "evil/c", "good/a"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
