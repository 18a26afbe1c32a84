// Package orphan looks after DaemonSets that are still suspended when their TimeWindowScaler is gone. It resumes those whose
// scaler had asked for that, and reports the others.
//
// What a scaler asks for is kept on its DaemonSet, as an annotation. So a deletion never waits for the manager, as it would with a
// finalizer, and what was deleted while no manager ran is noticed by the next one (ADR 23).
package orphan
