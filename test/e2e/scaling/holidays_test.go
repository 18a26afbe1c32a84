package scaling

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B6: on a closed holiday the ConfigMap is deleted and created again, as a tool that replaces objects does. Nothing is
// scaled, and Degraded says at once what is missing. Without it for five minutes, the day is a normal one.
func TestAReplacedHolidayConfigMap(t *testing.T) {
	s := newScenario(t, "2025-12-25 10:00:00")
	s.target(2)
	s.holidays("2025-12-25")
	s.officeHours(withHolidays(v1beta1.HolidayClosed))
	s.settles(2)
	generation := s.deployment().Generation
	deleteHolidays := func() {
		t.Helper()
		s.Must(admin.Delete(s.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "company-holidays"}}))
	}
	for range 3 {
		deleteHolidays()
		message := s.condition("Degraded", "True", v1beta1.ReasonHolidaySourceMissing)
		if !strings.Contains(message, "the dates last read apply until 2025-12-25T04:3") {
			t.Errorf("Degraded says %q", message)
		}
		s.holidays("2025-12-25")
		s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	}
	s.equal("generation of the target", s.deployment().Generation, generation)
	s.equal("events", len(s.notes("ScaledUp"))+len(s.notes("HolidayDetected")), 1)

	deleteHolidays()
	s.condition("Degraded", "True", v1beta1.ReasonHolidaySourceMissing)
	s.clock("2025-12-25 10:07:00")
	s.settles(10)
	s.equal("Degraded", s.condition("Degraded", "True", v1beta1.ReasonHolidaySourceMissing),
		"ConfigMap company-holidays with the holidays not found; every day counts as a normal day")
}

// B9: ConfigMaps that no schedule names cost nothing.
func TestOtherConfigMapsAreNotRead(t *testing.T) {
	s := newScenario(t, "2025-12-25 10:00:00")
	s.target(2)
	s.holidays("2025-12-25")
	s.officeHours(withHolidays(v1beta1.HolidayClosed))
	s.settles(2)
	before := sent.ofConfigMaps.Load()
	const others, size = 40, 50_000
	for i := range others {
		s.Must(admin.Create(s.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: fmt.Sprintf("other-%d", i)}, Data: map[string]string{"text": strings.Repeat("x", size)},
		}))
	}
	// The schedule's own ConfigMap changes last.
	s.Patch(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "company-holidays"}}, `{"data":{"2025-12-25":null,"2025-12-26":""}}`)
	s.settles(10)
	if read := sent.ofConfigMaps.Load() - before; read > size {
		t.Errorf("read %d bytes of ConfigMaps, for one small change and %d other ConfigMaps of %d bytes", read, others, size)
	} else if read == 0 {
		t.Error("read nothing, not even the change")
	}
	if found := sent.about("/api/v1/configmaps"); len(found) > 0 {
		t.Errorf("listed all ConfigMaps: %q", found)
	}
}

// B9: at the midnights of a day without windows no status is written.
func TestMidnightsWithoutWindows(t *testing.T) {
	s := newScenario(t, "2025-01-31 18:00:00") // a Friday, after the window
	const scalers = 25
	s.target(2)
	for i := range scalers {
		s.officeHours(func(tws *v1beta1.TimeWindowScaler) {
			if i > 0 {
				tws.Name, tws.Spec.TargetRef.Name = fmt.Sprintf("%s-%d", scalerName, i), fmt.Sprintf("missing-%d", i)
			}
		})
	}
	s.settles(2)
	all := func() (done int) {
		var list v1beta1.TimeWindowScalerList
		s.List(s.namespace, &list)
		for i := range list.Items {
			if len(list.Items[i].Status.Conditions) == 3 {
				done++
			}
		}
		return done
	}
	s.Until("a status of each", func() bool { return all() == scalers })
	s.clockIsKnown()
	statuses := "/namespaces/" + s.namespace + "/timewindowscalers/"
	before := len(sent.about(statuses))
	for _, midnight := range []string{"2025-02-01 00:00:00", "2025-02-02 00:00:00"} {
		passes := s.passes()
		s.clock(midnight)
		s.Until("a pass over each", func() bool { return s.passes() >= passes+scalers })
	}
	if writes := sent.about(statuses)[before:]; len(writes) > 0 {
		t.Errorf("%d schedules made %d writes, the first is %s", scalers, len(writes), writes[0])
	}
}

// R4: kubectl puts a value that is not UTF-8 below binaryData. Its key is a date like any other, also when it comes and goes.
func TestHolidaysInBinaryData(t *testing.T) {
	s := newScenario(t, "2025-12-25 10:00:00")
	s.target(2)
	list := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "company-holidays"},
		Data:       map[string]string{"2025-12-24": ""}, BinaryData: map[string][]byte{"2025-12-25": {0xff, 0xfe}, "25.12.2026": {0xff}},
	}
	s.Must(admin.Create(s.Context(), list))
	s.officeHours(withHolidays(v1beta1.HolidayClosed))
	s.settles(2)
	s.equal("holiday", s.scaler().Status.Holiday, "2025-12-25")
	s.equal("Degraded", s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal),
		"The spec is fully applied, but these holiday keys are not yyyy-mm-dd dates: 25.12.2026")
	s.Patch(list, `{"binaryData":{"2025-12-25":null}}`)
	s.settles(10)
	s.Patch(list, `{"binaryData":{"2025-12-25":"AAEC"}}`)
	s.settles(2)
}
