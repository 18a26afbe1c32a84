package message_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// What a deletion leaves in the store is named, but not all of it, and an event is not too long for the API server.
func TestUnnamed(t *testing.T) {
	ws := situation{code: lifecycle.CodeDeleting}.facts().Workspace
	key := archive.Key{UID: workspaceUID, OpID: archiveOperation}
	for _, tc := range []struct {
		kept  []archive.Key
		err   error
		kind  string
		parts []string
	}{
		{nil, nil, "", nil},
		{[]archive.Key{key}, nil, "Normal", []string{"Secret team/homes", archiveKey + ". To have one deleted"}},
		{[]archive.Key{key, key, key, key, key}, nil, "Normal", []string{archiveKey + " and 2 more. To"}},
		{[]archive.Key{key}, errors.New(strings.Repeat("no answer ", 500)), "Warning", []string{"Secret team/homes", "spec.restoreFrom is empty", "Cause: ...", "no answer"}},
	} {
		events := message.Unnamed(ws, tc.kept, tc.err)
		if (len(events) == 1) != (tc.kind != "") {
			t.Fatalf("%+v: %+v", tc, events)
		}
		for _, event := range events {
			if event.Type != tc.kind || event.Reason != "KeptArchivesStay" || len(event.Note) > 1024 {
				t.Errorf("%+v", event)
			}
			for _, part := range tc.parts {
				if !strings.Contains(event.Note, part) {
					t.Errorf("%q does not contain %q", event.Note, part)
				}
			}
		}
	}
}

// A store that words the same refusal anew with each answer causes no write; another refusal is shown.
func TestACauseIsSteady(t *testing.T) {
	s := situation{before: lifecycle.Status{}, code: lifecycle.CodeStoreUnreachable, cause: "AccessDenied: Access Denied (request 17A3F0)"}
	facts := s.facts()
	facts.Workspace.Status = facts.Status(eight)
	first := ready(facts)
	if !strings.Contains(first, " Cause: AccessDenied: Access Denied (request 17A3F0). ") {
		t.Fatal(first)
	}
	for cause, same := range map[string]bool{
		"AccessDenied: Access Denied (request 99B)":                       true,
		"SignatureDoesNotMatch: The request signature we calculated":      false,
		"read tcp 10.0.0.1:4711->10.0.0.2:443: connection reset by peer.": false,
	} {
		facts.Cause = cause
		if got := ready(facts); (got == first) != same || !same && !strings.Contains(got, "Cause: "+strings.TrimSuffix(cause, ".")+". ") {
			t.Errorf("%q: %s", cause, got)
		}
	}
}

func ready(facts message.Facts) string {
	return meta.FindStatusCondition(facts.Status(eight.Add(time.Minute)).Conditions, "Ready").Message
}
