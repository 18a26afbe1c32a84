package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
)

// A ticket to archive has the recipients of the Secret, one to restore has none, and neither has an identity (W92). Recipients alone are
// a mistake in the Secret (W93).
func TestTicketsHaveTheRecipients(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	public := identity.Recipient().String()
	s, known := newStores(t.TempDir())
	known[name][connect.AgeRecipients], known[name][connect.AgeIdentity] = []byte(public+"\n"), []byte(identity.String())
	for maxBytes, want := range map[int64][]string{1 << 20: {public}, 0: nil} {
		ticket, err := s.Issue(t.Context(), name, key.Data(), archive.Order{MaxBytes: maxBytes, Now: now, Valid: time.Minute})
		if err != nil || !slices.Equal(ticket.Recipients, want) || strings.Contains(fmt.Sprintf("%+v", ticket), identity.String()) {
			t.Errorf("for %d bytes: %+v, %v", maxBytes, ticket, err)
		}
	}
	delete(known[name], connect.AgeIdentity)
	if _, err := s.Issue(t.Context(), name, key.Data(), archive.Order{Now: now, Valid: time.Minute}); err != nil {
		t.Errorf("a restore: %v", err)
	}
	if _, err := s.Issue(t.Context(), name, key.Data(), archive.Order{MaxBytes: 1, Now: now, Valid: time.Minute}); !errors.Is(err, store.ErrNotConfigured) ||
		store.Code(err) != lifecycle.CodeArchiveNotConfigured || !strings.Contains(err.Error(), "Secret store: ageIdentity: is missing") {
		t.Error(err)
	}
	if got := store.Code(fmt.Errorf("x: %w", archive.ErrNotEncrypted)); got != lifecycle.CodeArchiveNotConfigured {
		t.Errorf("a store that does not encrypt: %s", got)
	}
}
