package timewindowscaler

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// holidayGrace is how long the dates of a ConfigMap apply that does not exist any more: it may only be replaced.
const holidayGrace = 5 * time.Minute

// holidays is what the ConfigMap contains; all zero if the mode needs none.
type holidays struct {
	missing string // the ConfigMap's name if it does not exist
	// dates are those of the ConfigMap; if it is missing, those that it last had.
	dates   map[string]bool
	invalid []string // keys that are not dates
	// gone is when it was first found missing, and seen whether this manager has ever read it.
	gone time.Time
	seen bool
}

func (r *Reconciler) observeHolidays(ctx context.Context, tws *v1beta1.TimeWindowScaler) (holidays, error) {
	scaler, name := client.ObjectKeyFromObject(tws), schedule.HolidaySource(&tws.Spec)
	if name == "" {
		r.holidays.Release(scaler)
		return holidays{}, nil
	}
	source, err := r.holidays.Read(ctx, scaler, types.NamespacedName{Namespace: tws.Namespace, Name: name})
	if err != nil {
		return holidays{}, err
	}
	h := holidays{gone: source.Gone, seen: source.Seen}
	h.dates, h.invalid = timecalc.ParseHolidayDates(source.Keys)
	if !source.Gone.IsZero() {
		h.missing, h.invalid = name, nil
	}
	return h, nil
}

// at are the dates that apply, and until when if the ConfigMap is missing; zero if they do not end. After a
// restart the dates are not known, but the status still has today's (B6).
func (h *holidays) at(tws *v1beta1.TimeWindowScaler, now time.Time) (dates map[string]bool, until time.Time) {
	if h.missing == "" {
		return h.dates, time.Time{}
	}
	if age := now.Round(0).Sub(h.gone); age < 0 || age >= holidayGrace {
		return nil, time.Time{}
	}
	until = schedule.WholeSecond(h.gone.Add(holidayGrace))
	if h.seen {
		return h.dates, until
	}
	if today := tws.Status.Holiday; today != "" && tws.Status.ObservedGeneration == tws.Generation {
		return map[string]bool{today: true}, until
	}
	return nil, time.Time{}
}

// missingMessage says what applies without the ConfigMap.
func (h *holidays) missingMessage(until time.Time) string {
	if until.IsZero() {
		return fmt.Sprintf("ConfigMap %s with the holidays not found; every day counts as a normal day", h.missing)
	}
	return fmt.Sprintf("ConfigMap %s with the holidays not found; the dates last read apply until %s, then every day counts as a normal day",
		h.missing, until.UTC().Format(time.RFC3339))
}
