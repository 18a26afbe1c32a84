package scaling

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// heldWatch holds back the events of the controller's watch on TimeWindowScalers while it is closed.
type heldWatch struct {
	mu     sync.Mutex
	closed chan struct{} // nil if events pass
}

// scalerWatch is the controller's watch.
var scalerWatch heldWatch

func (h *heldWatch) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.URL.Query().Get("watch") != "" && strings.HasSuffix(request.URL.Path, "/timewindowscalers") {
			response.Body = heldBody{response.Body, h}
		}
		return response, err
	})
}

// hold keeps all further events until release is called.
func (h *heldWatch) hold() (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	closed := make(chan struct{})
	h.closed = closed
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closed = nil
		close(closed)
	})
}

func (h *heldWatch) wait() {
	h.mu.Lock()
	closed := h.closed
	h.mu.Unlock()
	if closed != nil {
		<-closed
	}
}

type heldBody struct {
	io.ReadCloser
	watch *heldWatch
}

func (b heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.wait()
	return n, err
}

// B14: the watch on the scalers is late. A boundary and an edit meet, and the controller learns of the edit by a conflict. From then on it
// follows the new spec, and never again the old one, which its cache still has.
func TestAnEditWhileTheWatchIsLate(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.target(2)
	s.officeHours()
	s.settles(2)
	release := scalerWatch.hold()
	t.Cleanup(release)

	s.clock("2025-01-27 09:00:00")
	s.settles(10)
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(7) })
	s.userScales(12) // corrected to 10, and then the status meets the edit
	s.settles(7)
	for range 2 { // one more would be a fight
		s.userScales(9)
		s.settles(7)
	}
	s.equal("status is about generation", s.scaler().Status.ObservedGeneration, int64(2))
	// One less if the controller asked the API server before it met the edit, as it does when a cache is behind for seconds.
	if changes := s.deployment().Generation - 1; changes > 4+2*2 {
		t.Errorf("changes of the count: got %d, want at most %d", changes, 4+2*2)
	}
	release()
	s.settles(7)
}
