package kindwatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// silence answers no access review.
type silence struct{ client.Writer }

func (silence) Create(ctx context.Context, _ client.Object, _ ...client.CreateOption) error {
	<-ctx.Done()
	return ctx.Err()
}

// A review that hangs ends by itself, however many namespaces there are: the kind is watched without it, and the API server decides.
func TestAReviewThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := &Watches{Reviews: silence{}, Namespaces: []string{"a", "b", "c"}}
		if err := w.permitted(t.Context(), rollouts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(began); took != impatience { // in the bubble
			t.Errorf("it took %s", took)
		}
	})
}
