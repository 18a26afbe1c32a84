package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/preview"
	"kyklos.io/kyklos/internal/preview/compare"
)

func TestShow(t *testing.T) {
	before := spec("America/New_York", window("weekdays", "09:00", "17:00", 10), window("all", "22:00", "06:00", 5))
	after := spec("America/New_York", window("weekdays", "10:30", "17:00", 10), window("all", "22:00", "06:00", 6))
	after.DefaultReplicas = intstr.FromInt32(3)
	after.Pause = true
	same := spec("UTC", window("weekdays", "09:00", "17:00", 10))
	d := compare.Compare(
		[]*preview.Timeline{timeline(t, "web", before, 14), timeline(t, "same", same, 14), timeline(t, "old|<b>", same, 14)},
		[]*preview.Timeline{timeline(t, "web", after, 14), timeline(t, "same", same, 14), timeline(t, "new", spec("UTC", window("all", "23:00", "02:00", 1)), 14)})
	o := compare.Options{Days: 14, From: "2027-02-22"}
	var out bytes.Buffer
	compare.Text(&out, d, o)
	out.WriteString("=====\n")
	compare.Markdown(&out, d, o)
	out.WriteString("=====\n")
	compare.JSON(&out, d)
	fmt.Println(out.String()[:min(9000, out.Len())])
	_ = json.Valid
	_ = strings.Contains
	_ = v1beta1.Kind
}
