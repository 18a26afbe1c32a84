package admission_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

func TestArchivedDays(t *testing.T) {
	keeps := func(how v1beta1.WorkspaceDrive, windows ...v1beta1.Window) findingsCase {
		return findingsCase{obj: office(withKind("kyklos.io/v1alpha1", "Workspace"), withBaseline(8, "0%"), withWindows(windows...), func(obj *v1beta1.TimeWindowScaler) {
			obj.Spec.Workspace = &how
		})}
	}
	after := func(days int32) v1beta1.WorkspaceDrive { return v1beta1.WorkspaceDrive{KeepArchivedAfterDays: &days} }
	warned := func(c findingsCase) findingsCase {
		c.want = []string{"archived-days spec.workspace.keepArchivedAfterDays"}
		return c
	}
	hours, never := window("09:00", "17:00", 1, weekdays...), window("09:00", "17:00", 0, weekdays...)
	checkCases(t, map[string]findingsCase{
		"the default":                       keeps(v1beta1.WorkspaceDrive{}, hours),
		"longer than a weekend":             keeps(after(3), hours),
		"a weekend":                         warned(keeps(after(2), hours)),
		"a night":                           warned(keeps(after(1), hours)),
		"one day a week":                    warned(keeps(after(6), window("09:00", "17:00", 1, "Mon"))),
		"one day a week, and the default":   keeps(after(7), window("09:00", "17:00", 1, "Mon")),
		"at weekends, too":                  keeps(after(1), hours, window("10:00", "12:00", 1, "Sat", "Sun")),
		"a window in which it does not run": warned(keeps(after(2), hours, window("10:00", "12:00", 0, "Sat", "Sun"))),
		"always archived":                   keeps(v1beta1.WorkspaceDrive{KeepArchived: true}, hours),
		"always started":                    keeps(after(0), hours),
		"no window in which it runs":        keeps(after(1), never),
		"all day, so that it never stops":   keeps(v1beta1.WorkspaceDrive{KeepArchivedAfterDays: ptr.To[int32](1)}, window("00:00", "24:00", 1, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")),
	})
}
