package v1beta1

// Condition types; every status carries all three. They are public
// contract, as are the reasons below: rename none.
const (
	// ConditionReady says whether the target has the replicas that it should have.
	ConditionReady = "Ready"
	// ConditionReconciling says whether the target is on its way to them.
	ConditionReconciling = "Reconciling"
	// ConditionDegraded says whether Kyklos works with less than the user asked for.
	ConditionDegraded = "Degraded"
)

// Reasons of Ready.
const (
	// ReasonReconciled: the target matches.
	ReasonReconciled = "Reconciled"
	// ReasonTargetMismatch: the target differs, on its way or paused.
	ReasonTargetMismatch = "TargetMismatch"
	// ReasonTargetNotFound: the target does not exist.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonTargetConflict: an older TimeWindowScaler owns the target (B8).
	ReasonTargetConflict = "TargetConflict"
	// ReasonTargetForbidden: Kyklos lacks a permission for the target's kind. A reason of Degraded too.
	ReasonTargetForbidden = "TargetForbidden"
)

// Reasons of Reconciling.
const (
	// ReasonStable: nothing is on its way.
	ReasonStable = "Stable"
	// ReasonWindowTransition: the target is being brought to the current window's replicas.
	ReasonWindowTransition = "WindowTransition"
	// ReasonConfigurationChange: the same, after a change of spec.
	ReasonConfigurationChange = "ConfigurationChange"
)

// Reasons of Degraded. ReasonInvalidConfiguration is one of Ready too: nothing can be decided.
const (
	// ReasonOperationalNormal: everything that the user asked for is at work.
	ReasonOperationalNormal = "OperationalNormal"
	// ReasonInvalidTimezone: the zone is unknown here, and defaultReplicas apply; or that of a window is,
	// and the window is left out.
	ReasonInvalidTimezone = "InvalidTimezone"
	// ReasonInvalidConfiguration: the windows cannot be read; the target is left alone.
	ReasonInvalidConfiguration = "InvalidConfiguration"
	// ReasonHolidaySourceMissing: there is no holiday ConfigMap; days count as normal days.
	ReasonHolidaySourceMissing = "HolidaySourceMissing"
	// ReasonMetricUnavailable: the window's metric has no value; its replicas apply.
	ReasonMetricUnavailable = "MetricUnavailable"
	// ReasonFieldFight: somebody else rewrites the target's count again and again.
	ReasonFieldFight = "FieldFight"
	// ReasonScaleFailed: the API server refused the write to the target.
	ReasonScaleFailed = "ScaleFailed"
)
