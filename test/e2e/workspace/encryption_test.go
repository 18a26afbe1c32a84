package workspace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// W92: with recipients in the store's Secret the object is a file of age. A home comes back with an identity of one of them. Without, the
// restore is retried and says what is missing, until a person adds it. No secret key is in any other object, or in a log.
func TestEncryptedArchive(t *testing.T) {
	s := newScenario(t)
	mine, old, wrong := s.ageKey(), s.ageKey(), s.ageKey()
	s.setStore(map[string]string{
		"ageRecipients": "# ann\n" + mine.Recipient().String() + "\n" + old.Recipient().String() + "\n", "ageIdentity": mine.String() + "\n",
	})
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	s.leaveFile("mine alone")
	s.Change(`{"desiredState":"PENDING"}`)
	key := s.AwaitSettled(fixtures.Archived).Status.ArchiveKey
	stored, err := os.ReadFile(filepath.Join(store.Folder, filepath.FromSlash(key)))
	s.Must(err)
	if !bytes.HasPrefix(stored, []byte("age-encryption.org/v1\n")) {
		t.Errorf("the object begins with %.30q", stored)
	}
	s.lists(encryption.Fingerprint(mine.Recipient().String()) + "," + encryption.Fingerprint(old.Recipient().String()))

	s.setStore(map[string]string{"ageIdentity": wrong.String()})
	s.Change(`{"desiredState":"RUNNING"}`)
	ws := s.Await("without an identity", func(ws *v1alpha1.Workspace) bool {
		return ws.Status.Error != nil && strings.Contains(ws.Status.Error.Message, "no identity opens the archive")
	})
	message := ws.Status.Error.Message
	for _, want := range []string{encryption.Fingerprint(old.Recipient().String()), encryption.Fingerprint(wrong.Recipient().String()), "ageIdentity of Secret " + s.Namespace + "/store"} {
		if !strings.Contains(message, want) {
			t.Errorf("%q is not in: %s", want, message)
		}
	}
	if ws.Status.DisplayState == "ERROR" || ws.Status.Error.Code != v1alpha1.ReasonJobFailed {
		t.Errorf("it is not retried: %s, %+v", ws.Status.DisplayState, ws.Status.Error)
	}
	s.setStore(map[string]string{"ageIdentity": wrong.String() + "\n" + old.String()})
	s.AwaitSettled(fixtures.Running)
	s.expectFile("mine alone")
	s.noneSays(mine, old, wrong)
}

// W93: what cannot be read back is not archived.
func TestRecipientsWithoutAnIdentity(t *testing.T) {
	s := newScenario(t)
	s.setStore(map[string]string{"ageRecipients": s.ageKey().Recipient().String()})
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	s.leaveFile("here")
	s.Change(`{"desiredState":"PENDING"}`)
	s.Await("refused", func(ws *v1alpha1.Workspace) bool {
		text, err := json.Marshal(ws.Status)
		s.Must(err)
		return strings.Contains(string(text), "ageIdentity: is missing")
	})
	s.expectFile("here")
	s.Change(`{"desiredState":"RUNNING"}`)
	s.AwaitSettled(fixtures.Running)
	s.expectFile("here")
}

func (s *scenario) ageKey() *age.X25519Identity {
	s.Helper()
	key, err := age.GenerateX25519Identity()
	s.Must(err)
	return key
}

// setStore changes keys of the store's Secret.
func (s *scenario) setStore(keys map[string]string) {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"stringData": keys})
	s.Must(err)
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = s.Namespace, "store"
	s.Must(s.Client.Patch(s.Context(), secret, client.RawPatch(types.MergePatchType, patch)))
}

// noneSays checks that no secret key is in an object, other than the store's Secret, or in the manager's log.
func (s *scenario) noneSays(keys ...*age.X25519Identity) {
	s.Helper()
	said := s.ManagerLog.String()
	for _, list := range []client.ObjectList{
		&v1alpha1.WorkspaceList{}, &corev1.PodList{}, &batchv1.JobList{}, &corev1.EventList{}, &corev1.SecretList{}, &corev1.PersistentVolumeClaimList{},
	} {
		s.Must(s.Client.List(s.Context(), list, client.InNamespace(s.Namespace)))
		if secrets, ok := list.(*corev1.SecretList); ok {
			for i := range secrets.Items {
				for name, value := range secrets.Items[i].Data {
					if secrets.Items[i].Name != "store" {
						said += name + string(value)
					}
				}
			}
			continue
		}
		text, err := json.Marshal(list)
		s.Must(err)
		said += string(text)
	}
	for _, key := range keys {
		if strings.Contains(said, key.String()) {
			s.Errorf("a secret key was copied")
		}
	}
}
