package certs_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/certs"
)

// testSteadyState counts the requests of a replica while it renews its leaf.
func testSteadyState(t *testing.T, c client.Client, kyklos *rest.Config, auditLog string) {
	r := startReplica(t, kyklos, certs.Options{
		Namespace: namespace, SecretName: "steady", CADuration: time.Hour, LeafDuration: 6 * time.Second,
		ValidatingWebhookConfigurations: []string{"steady"},
	})
	create(t, c, validating("steady", nil, r))
	ready(t, r)
	turned(t, r)
	before := requests(t, auditLog, "steady")
	if len(before) == 0 {
		t.Fatal("not even the publishing was recorded: the count proves nothing")
	}
	turned(t, r)
	turned(t, r)
	if after := requests(t, auditLog, "steady"); len(after) != len(before) {
		t.Errorf("%d requests in the steady state:\n%s", len(after)-len(before), strings.Join(after[len(before):], "\n"))
	}
}

// requests lists what the user has asked the API server for, watches aside:
// those are open all the time.
func requests(t *testing.T, auditLog, user string) (list []string) {
	t.Helper()
	file, err := os.Open(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list // What is left is being written.
		}
		if err != nil {
			t.Fatal(err)
		}
		var event struct {
			Verb, RequestURI string
			ImpersonatedUser struct{ Username string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if event.ImpersonatedUser.Username == user && event.Verb != "watch" {
			list = append(list, fmt.Sprintf("%s %s", event.Verb, event.RequestURI))
		}
	}
}
