package v1beta1

// Condition types; every status has all three. They are public
// contract, as are the reasons below: do not rename them.
const (
	// ConditionReady: the target has the replicas that it should have.
	ConditionReady = "Ready"
	// ConditionReconciling: the target is being scaled.
	ConditionReconciling = "Reconciling"
	// ConditionDegraded: the spec is not fully applied.
	ConditionDegraded = "Degraded"
)

// Reasons of Ready.
const (
	// ReasonReconciled: the target matches.
	ReasonReconciled = "Reconciled"
	// ReasonTargetInUse: a Workspace should be stopped and stays while somebody uses it.
	ReasonTargetInUse = "TargetInUse"
	// ReasonTargetMismatch: the target differs, because it is being scaled or paused.
	ReasonTargetMismatch = "TargetMismatch"
	// ReasonTargetNotFound: the target does not exist.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonTargetConflict: another TimeWindowScaler owns the target (B8). As a reason of Degraded: a
	// HorizontalPodAutoscaler scales the target too.
	ReasonTargetConflict = "TargetConflict"
	// ReasonTargetForbidden: Kyklos lacks a permission for the target's kind. A reason of Degraded too.
	ReasonTargetForbidden = "TargetForbidden"
	// ReasonBeingDeleted: the TimeWindowScaler is being deleted and waits for a finalizer; the target is not scaled
	// any more. A reason of Degraded too.
	ReasonBeingDeleted = "BeingDeleted"
)

// Reasons of Reconciling.
const (
	// ReasonStable: nothing is being scaled.
	ReasonStable = "Stable"
	// ReasonWindowTransition: the target is being scaled to the current window's replicas.
	ReasonWindowTransition = "WindowTransition"
	// ReasonConfigurationChange: the same, after a change of spec.
	ReasonConfigurationChange = "ConfigurationChange"
)

// Reasons of Degraded. ReasonInvalidConfiguration is also one of Ready.
const (
	// ReasonOperationalNormal: the spec is fully applied.
	ReasonOperationalNormal = "OperationalNormal"
	// ReasonInvalidTimezone: the zone is unknown, and defaultReplicas apply; or that of a window is, and the
	// window is ignored.
	ReasonInvalidTimezone = "InvalidTimezone"
	// ReasonInvalidConfiguration: the windows are invalid; the target is not changed.
	ReasonInvalidConfiguration = "InvalidConfiguration"
	// ReasonHolidaySourceMissing: the holiday ConfigMap does not exist; holidays are ordinary days.
	ReasonHolidaySourceMissing = "HolidaySourceMissing"
	// ReasonMetricUnavailable: the window's metric has no value; its replicas apply.
	ReasonMetricUnavailable = "MetricUnavailable"
	// ReasonFieldFight: another client repeatedly changes the target's replicas.
	ReasonFieldFight = "FieldFight"
	// ReasonTargetUnavailable: the target cannot be read or watched. A reason of Ready too.
	ReasonTargetUnavailable = "TargetUnavailable"
	// ReasonScaleFailed: the write to the target was refused, or failed more than once.
	ReasonScaleFailed = "ScaleFailed"
)
