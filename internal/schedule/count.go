package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// MaxPercent bounds the percentages of spec.baselineReplicas.
const MaxPercent = 1000

// Count is the number of replicas that a spec field asks for: its number, or its percentage of
// baseline, rounded up (A6). A percentage needs a baseline, and is a whole number from 0% to
// MaxPercent.
func Count(replicas intstr.IntOrString, baseline *int32) (int32, error) {
	if replicas.Type == intstr.Int {
		return replicas.IntVal, nil
	}
	digits, isPercent := strings.CutSuffix(replicas.StrVal, "%")
	percent, err := strconv.ParseUint(digits, 10, 16)
	if !isPercent || err != nil || percent > MaxPercent {
		return 0, fmt.Errorf("%q is no number of replicas: use a number, such as 10, or a percentage from 0%% to %d%%, such as 150%%", replicas.StrVal, MaxPercent)
	}
	if baseline == nil {
		return 0, errors.New("a percentage needs spec.baselineReplicas, the count that it refers to")
	}
	return int32((int64(*baseline)*int64(percent) + 99) / 100), nil
}

// plain is the field as it was written, for messages.
func plain(replicas intstr.IntOrString) any {
	if replicas.Type == intstr.Int {
		return replicas.IntVal
	}
	return replicas.StrVal
}
