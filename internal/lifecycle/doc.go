// Package lifecycle is the engine of Workspaces: what is to be done next for one of them, when it
// counts as idle, what its time windows ask for, and which archives nobody needs. It is
// pure: what was seen, the present and new ids are arguments; nothing is read, kept or changed; it
// knows nothing of Kubernetes.
//
// Decide looks at one Workspace and answers with either a new status or one action, never both. Its
// caller writes the status, with the resourceVersion that it read, or carries the action out, looks
// again, and asks again. Four rules hold everywhere:
//
//   - What is not persisted has not happened: no action is asked for in the answer that changes the
//     status on which it rests (W25).
//   - Completion is what is seen, never what an action returned (W13). Anything but waiting rests on
//     a live look; a stale cache can delay, and do nothing else.
//   - A volume is the home only if its UID is recorded with its content (D1). A recorded volume without
//     content is waste, which nothing is ever started on.
//   - A home's volume is deleted only if its archive was verified in the same look, was made under this
//     very claim, of this volume and this epoch, and nothing uses the volume (D2-D5).
package lifecycle
