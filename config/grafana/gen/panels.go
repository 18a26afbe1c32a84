package main

// Selectors that the choices at the top narrow.
const (
	ofScaler  = `{namespace=~"$namespace",tws_name=~"$tws_name"}`
	ofManager = `{job="kyklos-metrics"}`
	ofHome    = `{namespace=~"$namespace"}`
)

// rows is the dashboard, the most urgent first.
var rows = []row{
	{"Is anything wrong?", []panel{
		{"Running managers", stat, "none", "Two by default; none of them needs to be the leader.", 4,
			[]query{{`sum(up` + ofManager + `)`, ""}}, 0},
		{"Leaders", stat, "none", "Exactly one scales.", 4,
			[]query{{`sum(leader_election_master_status{job="kyklos-metrics",name="kyklos-manager"})`, ""}}, 2},
		{"Overdue schedules", stat, "none", "Schedules that were due more than three minutes ago, without a successful pass since.", 4,
			[]query{{`sum(time() - max by (namespace, tws_name) (kyklos_next_due_timestamp_seconds` + ofScaler + `) > bool 180)`, ""}}, 1},
		{"Degraded schedules", stat, "none", "Part of their spec is not applied.", 4,
			[]query{{`sum(kyklos_degraded` + ofScaler + `)`, ""}}, 1},
		{"Targets off their count", stat, "none", "Pods are missing, or the schedule is paused.", 4,
			[]query{{`count(kyklos_replica_drift` + ofScaler + ` > 0) or vector(0)`, ""}}, 1},
		{"Certificate", stat, "s", "Time until the webhooks' certificate expires. It is renewed with a third of its life left.", 4,
			[]query{{`min(kyklos_webhook_certificate_expiry_timestamp_seconds` + ofManager + `) - time()`, ""}}, 0},
		{"Degraded", table, "none", "Which ones. kubectl describe tws says why.", 12,
			[]query{{`max by (namespace, tws_name) (kyklos_degraded` + ofScaler + `) == 1`, ""}}, 0},
		{"Failures to scale", timeseries, "none", "Passes of the last ten minutes that could not make a due change, by the API server's reason.", 12,
			[]query{{`sum by (namespace, tws_name, reason) (increase(kyklos_scale_failures_total` + ofScaler + `[10m]))`, "{{namespace}}/{{tws_name}} {{reason}}"}}, 0},
	}},
	{"Schedules", []panel{
		{"Schedules by window", timeseries, "none", "The number of schedules in each window.", 8,
			[]query{{`count by (window) (kyklos_effective_replicas` + ofScaler + `)`, "{{window}}"}}, 0},
		{"Desired replicas", timeseries, "none", "The count that each target should have.", 8,
			[]query{{`max by (namespace, tws_name) (kyklos_effective_replicas` + ofScaler + `)`, "{{namespace}}/{{tws_name}}"}}, 0},
		{"Distance from the desired count", timeseries, "none", "The difference between existing and desired pods, where there is one. Short peaks after a boundary are normal.", 8,
			[]query{{`max by (namespace, tws_name) (kyklos_replica_drift` + ofScaler + `)`, "{{namespace}}/{{tws_name}}"}}, 0},
		{"Next due", table, "s", "Time until the next pass over each: a boundary, the end of a grace period or a date. Below zero is overdue.", 8,
			[]query{{`sort(max by (namespace, tws_name) (kyklos_next_due_timestamp_seconds` + ofScaler + `) - time())`, ""}}, 0},
		{"Changes of counts", timeseries, "none", "In ten minutes, by direction.", 8,
			[]query{{`sum by (direction) (increase(kyklos_scale_events_total` + ofScaler + `[10m]))`, "{{direction}}"}}, 0},
		{"Paused, in grace, on holiday", timeseries, "none", "Schedules whose count differs from their window's.", 8, []query{
			{`sum(kyklos_pause_active` + ofScaler + `) or vector(0)`, "paused"},
			{`sum(kyklos_in_grace_period` + ofScaler + `) or vector(0)`, "in a grace period"},
			{`sum(kyklos_holiday_override_active` + ofScaler + `) or vector(0)`, "on holiday"}}, 0},
		{"Corrections of manual drift", timeseries, "none", "In ten minutes. If they continue, something else sets the replicas too.", 8,
			[]query{{`sum by (namespace, tws_name) (increase(kyklos_manual_drift_corrections_total` + ofScaler + `[10m]))`, "{{namespace}}/{{tws_name}}"}}, 0},
		{"External metrics", timeseries, "none", "The values that counts follow.", 8,
			[]query{{`max by (namespace, tws_name, metric) (kyklos_external_metric_value` + ofScaler + `)`, "{{namespace}}/{{tws_name}} {{metric}}"}}, 0},
		{"Misses of external metrics", timeseries, "none", "Polls of the last ten minutes that got no value.", 8,
			[]query{{`sum by (namespace, tws_name, metric) (increase(kyklos_external_metric_misses_total` + ofScaler + `[10m]))`, "{{namespace}}/{{tws_name}} {{metric}}"}}, 0},
	}},
	{"Punctuality", []panel{
		{"Lateness after boundaries", timeseries, "s", "From the boundary to the write. Includes the intended delay, up to 35 seconds by default.", 12, []query{
			{`histogram_quantile(0.5, sum by (le) (increase(kyklos_boundary_lateness_seconds_bucket[1h])))`, "half"},
			{`histogram_quantile(0.99, sum by (le) (increase(kyklos_boundary_lateness_seconds_bucket[1h])))`, "99 of 100"}}, 0},
		{"Duration of a pass", timeseries, "s", "One pass over one schedule, all schedules together.", 12, []query{
			{`histogram_quantile(0.5, sum by (le) (rate(kyklos_reconcile_duration_seconds_bucket` + ofManager + `[$__rate_interval])))`, "half"},
			{`histogram_quantile(0.99, sum by (le) (rate(kyklos_reconcile_duration_seconds_bucket` + ofManager + `[$__rate_interval])))`, "99 of 100"}}, 0},
	}},
	{"Workspaces", []panel{
		{"Workspaces in ERROR", stat, "none", "They need help.", 6,
			[]query{{`count(max by (namespace, workspace) (kyklos_workspace_state{namespace=~"$namespace",state="ERROR"})) or vector(0)`, ""}}, 1},
		{"Homes being moved", stat, "none", "Archived or restored now. At --mover-limit, 10 by default, the others wait.", 6,
			[]query{{`max(kyklos_workspace_movers_active` + ofManager + `)`, ""}}, 0},
		{"Archived homes", stat, "bytes", "In the object stores, the newest archive of each Workspace.", 6,
			[]query{{`sum(max by (namespace, workspace) (kyklos_workspace_archive_bytes` + ofHome + `))`, ""}}, 0},
		{"Stores that are not cleaned up", stat, "none", "Object stores in which the last cycle of the archive GC was refused, failed, or that are foreign or lost.", 6,
			[]query{{`sum(max by (result) (kyklos_archive_gc_stores{job="kyklos-metrics",result!="done"}))`, ""}}, 1},
		{"In ERROR", table, "none", "Which ones. kubectl describe ws says why, and what to do.", 8,
			[]query{{`max by (namespace, workspace) (kyklos_workspace_state{namespace=~"$namespace",state="ERROR"}) == 1`, ""}}, 0},
		{"Workspaces by state", timeseries, "none", "The number of Workspaces in each state.", 8,
			[]query{{`count by (state) (max by (namespace, workspace, state) (kyklos_workspace_state` + ofHome + `))`, "{{state}}"}}, 0},
		{"Failed attempts", timeseries, "none", "In ten minutes, all namespaces together. Most are followed by another attempt.", 8,
			[]query{{`sum by (operation, reason) (increase(kyklos_workspace_failures_total` + ofManager + `[10m]))`, "{{operation}} {{reason}}"}}, 0},
		{"Duration of operations", timeseries, "s", "19 of 20 that completed within the last hour took no longer.", 8,
			[]query{{`histogram_quantile(0.95, sum by (operation, le) (increase(kyklos_workspace_operation_duration_seconds_bucket{job="kyklos-metrics",result="completed"}[1h])))`, "{{operation}}"}}, 0},
		{"Finished operations", timeseries, "none", "In ten minutes, by result. Failed ones led to ERROR.", 8,
			[]query{{`sum by (operation, result) (increase(kyklos_workspace_operation_duration_seconds_count` + ofManager + `[10m]))`, "{{operation}} {{result}}"}}, 0},
		{"Stopped or archived when idle", timeseries, "none", "In an hour, by their new desired state.", 8,
			[]query{{`sum by (desired) (increase(kyklos_workspace_idle_total` + ofManager + `[1h]))`, "{{desired}}"}}, 0},
		{"Object stores", timeseries, "none", "By their result in the last cycle of the archive GC.", 12,
			[]query{{`max by (result) (kyklos_archive_gc_stores` + ofManager + `)`, "{{result}}"}}, 0},
		{"Unneeded archives", timeseries, "none", "Those that wait for their deletion, and those deleted within a day.", 12, []query{
			{`max(kyklos_archive_gc_orphans` + ofManager + `)`, "wait"},
			{`sum(increase(kyklos_archive_gc_deleted_total` + ofManager + `[1d]))`, "deleted"}}, 0},
	}},
	{"Webhooks and storage", []panel{
		{"Admission", timeseries, "ops", "Responses of the validating webhook.", 8,
			[]query{{`sum by (operation, result) (rate(kyklos_admission_total` + ofManager + `[$__rate_interval]))`, "{{operation}} {{result}}"}}, 0},
		{"Requests let through without a check", timeseries, "none", "In ten minutes, while the API server could not call a webhook. Needs the API server's metrics.", 8,
			[]query{{`sum by (name) (increase(apiserver_admission_webhook_fail_open_count{name=~".+[.]kyklos[.]io"}[10m]))`, "{{name}}"}}, 0},
		{"Conversions", timeseries, "ops", "By direction. A failure is a bug.", 8,
			[]query{{`sum by (from, to, result) (rate(kyklos_conversions_total` + ofManager + `[$__rate_interval]))`, "{{from}} to {{to}} {{result}}"}}, 0},
		{"Conversions requested by the API server", timeseries, "ops", "Failed ones include all for which no manager could be reached.", 8,
			[]query{{`sum by (succeeded) (rate(apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="timewindowscalers.kyklos.io"}[$__rate_interval]))`, "succeeded: {{succeeded}}"}}, 0},
		{"Remaining life of the certificates", timeseries, "s", "Of the serving certificate and of its CA.", 8, []query{
			{`min(kyklos_webhook_certificate_expiry_timestamp_seconds` + ofManager + `) - time()`, "certificate"},
			{`min(kyklos_webhook_ca_expiry_timestamp_seconds` + ofManager + `) - time()`, "CA"}}, 0},
		{"Storage migration", timeseries, "none", "Objects left to rewrite, and 1 while a migration is running.", 8, []query{
			{`max by (crd) (kyklos_storage_migration_objects_left` + ofManager + `)`, "{{crd}} left"},
			{`max by (crd) (kyklos_storage_migration_active` + ofManager + `)`, "{{crd}} active"}}, 0},
	}},
	{"The manager", []panel{
		{"Passes", timeseries, "ops", "By result. Errors are panics; other failures are under failures to scale.", 8,
			[]query{{`sum by (result) (rate(controller_runtime_reconcile_total{job="kyklos-metrics",controller="timewindowscaler"}[$__rate_interval]))`, "{{result}}"}}, 0},
		{"Queue", timeseries, "none", "Queued schedules; those with priority 100 are due by time.", 8,
			[]query{{`sum by (priority) (workqueue_depth{job="kyklos-metrics",name="timewindowscaler"})`, "priority {{priority}}"}}, 0},
		{"Requests to the API server", timeseries, "reqps", "Only the Lease's in the steady state.", 8,
			[]query{{`sum by (method, code) (rate(rest_client_requests_total` + ofManager + `[$__rate_interval]))`, "{{method}} {{code}}"}}, 0},
		{"CPU", timeseries, "none", "Cores.", 8,
			[]query{{`rate(process_cpu_seconds_total` + ofManager + `[$__rate_interval])`, "{{pod}}"}}, 0},
		{"Memory", timeseries, "bytes", "Resident.", 8,
			[]query{{`process_resident_memory_bytes` + ofManager, "{{pod}}"}}, 0},
		{"Time zone database", table, "none", "All replicas should have the same release.", 8,
			[]query{{`count by (version) (kyklos_tzdata_info` + ofManager + `)`, ""}}, 0},
	}},
}
