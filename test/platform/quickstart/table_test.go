package main

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
)

var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

func scaler(namespace, name string) v1beta1.TimeWindowScaler {
	return v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// changes returns the lines that printChanges adds for scalers, without the header.
func changes(shown map[string]string, scalers ...v1beta1.TimeWindowScaler) []string {
	var out strings.Builder
	printChanges(&out, scalers, shown, noon)
	var lines []string
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "TIME") {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	return lines
}

func TestScalersOfOneNameAreDistinguishedByNamespace(t *testing.T) {
	scalers := []v1beta1.TimeWindowScaler{scaler("default", "web-hours"), scaler("shop", "web-hours")}

	lines := strings.Split(render(scalers, noon), "\n")
	if !strings.HasPrefix(lines[1], "web-hours ") || !strings.HasPrefix(lines[2], "shop/web-hours ") {
		t.Errorf("the table does not distinguish them:\n%s", strings.Join(lines, "\n"))
	}
	printed := changes(map[string]string{}, scalers...)
	if len(printed) != 2 || !strings.Contains(printed[0], " web-hours ") || !strings.Contains(printed[1], " shop/web-hours ") {
		t.Errorf("the lines do not distinguish them:\n%s", strings.Join(printed, "\n"))
	}
}

func TestPrintChanges_ReportsADeletedScalerOnce(t *testing.T) {
	shown := map[string]string{}
	changes(shown, scaler("default", "a"), scaler("shop", "b"))

	if got, want := strings.Join(changes(shown, scaler("default", "a")), "\n"), "12:00:00 shop/b deleted"; got != want {
		t.Errorf("after the deletion: %q, want %q", got, want)
	}
	if again := changes(shown, scaler("default", "a")); len(again) != 0 {
		t.Errorf("said again: %q", again)
	}
	if back := changes(shown, scaler("default", "a"), scaler("shop", "b")); len(back) != 1 {
		t.Errorf("a scaler made again has %d lines, want 1: %q", len(back), back)
	}
}
