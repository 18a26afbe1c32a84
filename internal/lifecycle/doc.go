// Package lifecycle is the engine of Workspaces. It decides the next step for one Workspace, when a Workspace is idle,
// what its time windows ask for, and which archives are no longer needed. The package is pure: observations, the current
// time and new ids are arguments. It reads nothing, keeps no state and does not depend on Kubernetes.
//
// Decide evaluates one Workspace and returns either a new status or one action, never both. The caller writes the status
// with the resourceVersion that it read, or executes the action, then observes and asks again. Some actions are questions
// (ReadLive, ReadPods, Verify, FindArchive); the caller answers them in the next Input. Four rules always hold:
//
//   - Nothing happens before it is persisted: a decision that changes the status asks for no action (W25).
//   - An operation is complete when completion is observed, not when an action returned (W13). Everything except
//     waiting is based on a live read. A stale cache can only cause a delay.
//   - A volume is the home only if its UID and content are recorded (D1). Nothing starts on a volume whose content is
//     not recorded.
//   - The volume of a home is deleted only if its archive was verified in the same pass, was made by this operation
//     from this volume in this epoch, and nothing uses the volume (D2-D5).
package lifecycle
