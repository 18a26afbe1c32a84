package timewindowscaler

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// forecast finds the next change of the count.
func (p *decision) forecast(kind target.Kind, tws *v1beta1.TimeWindowScaler, reading *schedule.Reading, calendar *timecalc.Calendar, now time.Time) {
	p.nextChange, _ = calendar.NextChange(now, timecalc.Forecast{
		Effective: p.effective, GraceExpiry: p.grace.expiry, GraceSeconds: tws.Spec.GracePeriodSeconds,
		Count: func(v timecalc.Verdict) (int32, bool) {
			return kind.Limit(v.Replicas), v.Window < 0 || reading.Metrics[v.Window] == nil
		},
	})
}

// nextChange is status.nextChange.
func nextChange(change timecalc.Change) *v1beta1.NextChange {
	at := timePointer(change.Time)
	if at == nil {
		return nil
	}
	next := &v1beta1.NextChange{Time: *at}
	if change.Known {
		next.Replicas = &change.Replicas
	}
	return next
}
