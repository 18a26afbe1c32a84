// Package chaos kills managers, movers, stores and API servers, damages volumes and archives, and steps clocks.
//
// The managers and movers are the built program, the pods of Workspaces are processes, volumes are folders, and the archive
// is a real S3 store. TestCrashes and TestDamages check one invariant after every write, with code of their own: a verified
// copy of the last written home exists, on the volume or in the archive, until a person deletes it by hand; and then the
// Workspace reports the loss.
//
// These tests fail on known mistakes of earlier designs:
//
//	D1  a volume counts as a restored home      internal/lifecycle.TestSimulatorFindsMutants
//	D1  the same with killed movers             test/chaos.TestCrashes
//	D2  an archive's id is reused               internal/lifecycle.TestSimulatorFindsMutants
//	D3  a manager that is not ready writes      internal/lifecycle.TestSimulatorFindsMutants
//	D4  the status is trusted, not the store    internal/lifecycle.TestSimulatorFindsMutants
//	D4  the same with a store's files           test/chaos.TestDamages
//	D5  a missing volume counts as archived     internal/lifecycle.TestSimulatorFindsMutants
//	D5  the same with volumes                   test/chaos.TestDamages
//	D6  a lost home counts as a new one         internal/lifecycle.TestSimulatorFindsMutants
//	D6  the same with volumes                   test/chaos.TestDamages
//	D7  a late mover overwrites an archive      internal/lifecycle.TestSimulatorFindsMutants
//	D7  the same with a store                   internal/archive/mover.TestALateMoverChangesNothing
//	D10 timeouts run while the manager is down  internal/lifecycle.TestCasesFindMutants
//	D10 the same with a stopped manager         test/chaos.TestManagerAwayForHours
//	D12 an operation cannot be reversed         internal/lifecycle.TestCasesFindMutants
//	D12 the same with a running mover           test/chaos.TestTurnBack
//	D14 garbage collection uses an old list     internal/lifecycle.TestCollectNaively
//	D14 the same with a store                   controller/archivegc.TestAnArchiveThatIsNeededAtTheLastMoment
//	D15 a new Workspace counts as idle          internal/lifecycle.TestIdle
//	D15 the same with the API                   controller/workspaceidle.TestAnIdleWorkspaceIsLoweredOnce
//	D17 a Pod uses a volume being deleted       internal/lifecycle.TestSimulatorFindsMutants
//	D17 the same with volumes                   test/chaos.TestDamages
//	D18 an ended mover holds the volume         internal/lifecycle.TestSimulatorFindsMutants
//	D20 a foreign object is adopted by name     internal/lifecycle.TestSimulatorFindsMutants
//	D23 a missing bucket counts as no archive   internal/lifecycle.TestSimulatorFindsMutants
//	D23 the same with a store                   internal/archive.TestAMissingBucketIsNotALoss
//	D23 another bucket counts as no archive     test/chaos.TestArchiveInAnotherBucketIsNotLost
package chaos
