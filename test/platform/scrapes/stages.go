package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// stage is one point in time at which everything is scraped.
type stage struct {
	// at is a time of day in UTC. Stages are as far apart as the scrapes of a Prometheus.
	at string
	// do is what happens then.
	do func(context.Context, *run) error
	// shows are parts of the metrics to wait for.
	shows []string
}

// stages are the stages of a run. At 09:00 the window of web begins.
var stages = []stage{
	{"08:58:30", nil, []string{
		`leader_election_master_status{name="kyklos-manager"} 1`,
		`kyklos_degraded{namespace="shop",tws_name="refused"} 1`,
		`kyklos_external_metric_value{metric="queue_depth",namespace="shop",tws_name="mail",window="day"} 90`,
		`kyklos_holiday_override_active{namespace="shop",tws_name="closed"} 1`,
		`kyklos_pause_active{namespace="shop",tws_name="paused"} 1`,
		`kyklos_replica_drift{namespace="shop",tws_name="paused"} 1`,
		`kyklos_scale_failures_total{namespace="shop",reason="Invalid",tws_name="refused"}`,
		`kyklos_storage_migration_active{crd="timewindowscalers.kyklos.io"}`,
		`kyklos_workspace_state{namespace="shop",state="RUNNING",workspace="desk"} 1`,
		`kyklos_workspace_state{namespace="shop",state="STANDBY",workspace="lost"} 1`,
		`kyklos_workspace_failures_total{first="true",operation="PROVISIONING",reason="Timeout"}`,
		`kyklos_archive_gc_stores{result="done"} 0`,
	}},
	{"08:59:00", all(
		kubectl("get", "timewindowscalers.v1alpha1.kyklos.io", "-A"),
		kubectl("-n", "shop", "patch", "ws", "desk", "--type=merge", `-p={"spec":{"desiredState":"STANDBY"}}`),
	), []string{`kyklos_workspace_state{namespace="shop",state="STANDBY",workspace="desk"} 1`}},
	{"08:59:30", kubectl("-n", "shop", "scale", "deployment", "web", "--replicas=5"), []string{
		`kyklos_manual_drift_corrections_total{namespace="shop",tws_name="web"} 1`,
	}},
	{"09:00:00", all(
		kubectl("-n", "shop", "patch", "ws", "desk", "--type=merge", `-p={"spec":{"desiredState":"RUNNING"}}`),
		kubectl("-n", "shop", "delete", "pvc", "ws-lost-home"),
	), []string{
		`kyklos_workspace_operation_duration_seconds_count{operation="STARTING",result="completed"} 2`,
		`kyklos_workspace_state{namespace="shop",state="ERROR",workspace="lost"} 1`,
		`kyklos_boundary_lateness_seconds_count 1`,
		`kyklos_effective_replicas{namespace="shop",tws_name="web",window="peak"} 3`,
	}},
	{"09:00:30", func(ctx context.Context, r *run) error {
		return r.cluster.WriteExternalMetrics(ctx, "shop", map[string]string{"queue_depth": "error: away"})
	}, []string{`kyklos_external_metric_misses_total{metric="queue_depth",namespace="shop",tws_name="mail"}`}},
	{"09:01:00", kubectl("-n", "shop", "patch", "tws", "web", "--type=merge",
		`-p={"spec":{"gracePeriodSeconds":60,"windows":[{"name":"peak","days":["Mon"],"start":"09:00","end":"24:00","replicas":2}]}}`), []string{
		`kyklos_admission_total{operation="update",result="allowed"} 3`, // the others were desk's
		`kyklos_in_grace_period{namespace="shop",tws_name="web",window="peak"} 1`,
	}},
	{"09:01:30", withoutFiles, []string{`kyklos_webhook_certificate_files_bad 1`}},
}

// kubectl runs a command that must succeed.
func kubectl(args ...string) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		_, _, err := r.cluster.Kubectl(ctx, "", args...)
		return err
	}
}

// all does several things in order.
func all(things ...func(context.Context, *run) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		for _, do := range things {
			if err := do(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
}

// missing returns the first piece that text lacks, or "".
func missing(text string, pieces []string) string {
	for _, piece := range pieces {
		if !strings.Contains(text, "\n"+piece) {
			return piece
		}
	}
	return ""
}

func (r *run) scrape(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.manager.MetricsURL, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// keep stores the current metrics of the manager and the API server.
func (r *run) keep(ctx context.Context, at string) error {
	manager, err := r.scrape(ctx)
	if err != nil {
		return err
	}
	server, err := r.api.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("scrape the API server: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(r.folder, "2025-01-27 "+at+" kyklos-metrics"), []byte(manager), 0o644),
		os.WriteFile(filepath.Join(r.folder, "2025-01-27 "+at+" apiserver"), server, 0o644))
}
