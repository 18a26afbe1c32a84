package workspace

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/stores"
	"kyklos.io/kyklos/internal/lifecycle"
)

// fresh is how long after its making a Workspace cannot have an archive that nobody remembers. By one that lies
// further ahead nobody knows how old it is: the clocks were set back.
const fresh = 5 * time.Minute

// recall looks for an archive that the status does not tell of. A status can be lost, and archiveKey be taken out by
// hand; then an empty home in place of the archived one would look like its loss (D6), and the collection would take the
// archive. As long as the store does not answer, nothing is made. It is one request.
func (p *pass) recall(ctx context.Context) error {
	if !p.forgets() {
		return nil
	}
	key, found, err := p.Stores.Forgotten(ctx, p.store(), p.asked.UID, p.now)
	switch {
	case errors.Is(err, stores.ErrNotConfigured) && p.status.Phase != "" && !p.hint():
		// Nothing tells of an archive, and no store of where it could be.
	case errors.Is(err, stores.ErrNotConfigured):
		p.holdBack(lifecycle.WordStoreUnreachable) // spec.archive does name a store
	case err != nil:
		p.holdBack(stores.Word(err))
	case key != "" && key != p.asked.AcceptedLoss:
		log.FromContext(ctx).Info("An archive was found that the status did not tell of", "key", key)
		p.adopt(key, found)
	default:
		p.decision.Status.Archive = lifecycle.Archive{} // a hint that leads nowhere is not followed again
	}
	return nil
}

// forgets reports whether there may be an archive that the status does not tell of: there is none in it and no
// volume, and it is the first one that is written, or it hints at an archive, or an empty home is about to be
// made. Whoever has accepted a loss has asked for that.
func (p *pass) forgets() bool {
	before, after := p.status, p.decision.Status
	if !p.asked.HasStore || p.asked.Deleting || p.seen.Failed || p.seen.Volume.State != lifecycle.VolumeAbsent || before.ArchiveKey != "" {
		return false
	}
	old := p.now.Sub(p.ws.CreationTimestamp.Time).Abs() >= fresh
	switch before.Phase {
	case "":
		return old && after.Phase != ""
	case lifecycle.Pending:
		begins := after.Operation.Type == lifecycle.Provisioning && before.Operation.Type != lifecycle.Provisioning
		return p.hint() || old && begins && p.asked.AcceptedLoss == ""
	default:
		return false
	}
}

// hint reports whether the status, without archiveKey, still tells otherwise of an archive, or was never written
// by Kyklos: that always says whether there is one.
func (p *pass) hint() bool {
	told := meta.FindStatusCondition(p.ws.Status.Conditions, v1alpha1.ConditionArchiveReady)
	return p.status.Archive != lifecycle.Archive{} || told == nil || told.Status != metav1.ConditionFalse
}

// holdBack takes the decision back until it is known whether there is an archive.
func (p *pass) holdBack(word lifecycle.Word) {
	p.decision.Status, p.decision.Word, p.decision.LookAt = p.status, word, p.now.Add(lifecycle.Poll/2)
	if p.status.Phase != "" {
		p.decision.Status.ObservedGeneration = p.asked.Generation
	}
	told := &p.decision.Conditions
	told.Ready = lifecycle.Condition{Status: lifecycle.False, Reason: word}
	told.Progressing = told.Ready
	told.ArchiveReady = lifecycle.Condition{Status: lifecycle.NotSettled, Reason: word}
}

// adopt decides that the archive is the home.
func (p *pass) adopt(key string, found lifecycle.Archive) {
	p.decision.Status = lifecycle.Status{
		ObservedGeneration: p.asked.Generation, Phase: lifecycle.Pending, Operation: lifecycle.Claim{Type: lifecycle.None},
		ArchiveKey: key, Archive: found, RetryToken: p.asked.RetryToken,
	}
	p.decision.Word, p.decision.LookAt = lifecycle.WordAdopted, p.now
	told := &p.decision.Conditions
	told.Ready = lifecycle.Condition{Status: lifecycle.False, Reason: lifecycle.WordAdopted}
	told.Progressing = told.Ready
	told.ArchiveReady = lifecycle.Condition{Status: lifecycle.True, Reason: lifecycle.WordArchiveReady}
}
