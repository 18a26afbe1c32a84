package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

const header = "NAME\tTARGET\tWINDOW\tEFFECTIVE\tOBSERVED\tNEXT CHANGE\tREADY\n"

// table shows all scalers and workspaces of the cluster.
type table struct {
	client client.Client
	homes  homes
}

// settle returns when every scaler has a status about its spec.
func (t *table) settle(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		scalers, err := t.list(ctx)
		settled := err == nil && len(scalers) > 0
		for i := range scalers {
			settled = settled && scalers[i].Status.ObservedGeneration == scalers[i].Generation
		}
		return settled, err
	})
}

// show prints until ctx ends: on a terminal the whole table repeatedly, otherwise each change as a line. It also ends if
// the manager or the object store ends.
func (t *table) show(ctx context.Context, out io.Writer, terminal bool, manager <-chan struct{}, studio *studio) error {
	shown, moved := map[string]string{}, map[string]string{}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for drawn := 0; ; {
		scalers, err := t.list(ctx)
		workspaces, also := t.workspaces(ctx)
		if ctx.Err() != nil {
			fmt.Fprintln(out, "Stopping ...")
			return nil
		}
		if studio.announce(out) {
			drawn = 0 // the table goes on below
		}
		switch err := errors.Join(err, also); {
		case err != nil:
			fmt.Fprintln(out, "cannot list what there is:", err)
		case terminal:
			drawn = redraw(out, render(scalers, time.Now())+"\n"+renderWorkspaces(workspaces, t.homes), drawn)
		default:
			printChanges(out, scalers, shown, time.Now())
			printMoves(out, workspaces, moved, t.homes, time.Now())
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-manager:
			return errors.New("the manager ended; see kyklos.log in the cluster's folder")
		case <-studio.storeEnded():
			return errors.New("the object store ended; start again: homes and archives are kept")
		}
	}
}

func (t *table) list(ctx context.Context) ([]v1beta1.TimeWindowScaler, error) {
	var list v1beta1.TimeWindowScalerList
	if err := t.client.List(ctx, &list); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b v1beta1.TimeWindowScaler) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return list.Items, nil
}

// redraw prints text over the lines drawn before and returns how many lines it has.
func redraw(out io.Writer, text string, drawn int) int {
	const up, clear = "\x1b[%dA", "\x1b[J"
	if drawn > 0 {
		fmt.Fprintf(out, up+clear, drawn)
	}
	fmt.Fprint(out, text)
	return strings.Count(text, "\n")
}

func render(scalers []v1beta1.TimeWindowScaler, now time.Time) string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprint(columns, header)
	for i := range scalers {
		fmt.Fprintln(columns, strings.Join(append(state(&scalers[i]), until(&scalers[i], now), ready(scalers[i].Status.Conditions)), "\t"))
	}
	_ = columns.Flush()
	return text.String()
}

// printChanges prints the header once, and a line for each scaler that has changed since shown or is gone.
func printChanges(out io.Writer, scalers []v1beta1.TimeWindowScaler, shown map[string]string, now time.Time) {
	const line = "%-8s  %-22s  %-14s  %-14s  %9s  %8s  %-34s  %s\n"
	if len(shown) == 0 {
		fmt.Fprintf(out, line, "TIME", "NAME", "TARGET", "WINDOW", "EFFECTIVE", "OBSERVED", "NEXT CHANGE", "READY")
	}
	gone := maps.Clone(shown)
	for i := range scalers {
		tws := &scalers[i]
		key, columns := displayName(tws), state(tws)
		delete(gone, key)
		if seen := strings.Join(append(columns, ready(tws.Status.Conditions)), "\t"); shown[key] != seen {
			shown[key] = seen
			fmt.Fprintf(out, line, now.Format(time.TimeOnly), columns[0], columns[1], columns[2], columns[3], columns[4], until(tws, now), ready(tws.Status.Conditions))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		delete(shown, key)
		fmt.Fprintf(out, "%-8s  %-22s  deleted\n", now.Format(time.TimeOnly), key)
	}
}

func state(tws *v1beta1.TimeWindowScaler) []string {
	return []string{displayName(tws), tws.Spec.TargetRef.Name, tws.Status.CurrentWindow,
		count(tws.Status.EffectiveReplicas), count(tws.Status.TargetObservedReplicas)}
}

// displayName omits the namespace of the samples.
func displayName(tws *v1beta1.TimeWindowScaler) string {
	if tws.Namespace == metav1.NamespaceDefault {
		return tws.Name
	}
	return tws.Namespace + "/" + tws.Name
}

func count(n *int32) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(int(*n))
}

// until returns the next change in the scaler's own zone, and the time left.
func until(tws *v1beta1.TimeWindowScaler, now time.Time) string {
	next := tws.Status.NextChange
	if next == nil {
		return "-"
	}
	zone, err := time.LoadLocation(tws.Spec.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return fmt.Sprintf("%s (in %s) to %s", next.Time.In(zone).Format("Mon 15:04 MST"), short(next.Time.Sub(now)), count(next.Replicas))
}

// short writes a duration as 2h14m, 34m, 3m07s or 42s.
func short(d time.Duration) string {
	switch d = max(d, 0).Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}

func ready(conditions []metav1.Condition) string {
	condition := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	if condition == nil {
		return "Unknown"
	}
	if condition.Status == "True" {
		return "True"
	}
	return fmt.Sprintf("%s (%s)", condition.Status, condition.Reason)
}
