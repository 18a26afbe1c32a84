package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// MaxPercent bounds the percentages of spec.baselineReplicas.
	MaxPercent = 1000
	// maxBaseline bounds spec.baselineReplicas, so that every percentage of it is a replica count.
	maxBaseline = 100_000
)

// Count is the number of replicas that a spec field asks for: its number, or its percentage of
// baseline, rounded up (A6). A percentage needs a baseline from 1 to maxBaseline, and is a whole number
// from 0% to MaxPercent.
func Count(replicas intstr.IntOrString, baseline *int32) (int32, error) {
	if replicas.Type == intstr.Int {
		return replicas.IntVal, nil
	}
	digits, isPercent := strings.CutSuffix(replicas.StrVal, "%")
	percent, err := strconv.ParseUint(digits, 10, 16)
	if !isPercent || err != nil || percent > MaxPercent || digits != strconv.FormatUint(percent, 10) {
		return 0, fmt.Errorf("%q is not a number of replicas: use a number, such as 10, or a percentage from 0%% to %d%%, such as 150%%", replicas.StrVal, MaxPercent)
	}
	if baseline == nil {
		return 0, errors.New("a percentage needs spec.baselineReplicas, the count that it refers to")
	}
	if *baseline < 1 || *baseline > maxBaseline {
		return 0, fmt.Errorf("a percentage of spec.baselineReplicas %d does not give a number of replicas: it must be from 1 to %d", *baseline, maxBaseline)
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
