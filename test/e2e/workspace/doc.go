// Package workspace takes Workspaces through their lives with real bytes: the manager and its movers are
// the built program, pods are processes, volumes are folders, and the archive is a real S3 store.
//
// TestCrashes and TestDamages hold one invariant: a verified copy of the last written home exists, on the
// volume or in the archive, until somebody takes it away by hand; and then the Workspace says so. They
// check it after every write, with code of their own.
//
// These tests fail on the mistakes of the design that this one comes from (seed 001), and of others:
//
//	D1  restored is when there is a volume          internal/lifecycle.TestSimulatorFindsMutants
//	D1  the same with killed movers                 test/e2e/workspace.TestCrashes
//	D2  an archive's id is used again               internal/lifecycle.TestSimulatorFindsMutants
//	D3  who is not ready does not write             internal/lifecycle.TestSimulatorFindsMutants
//	D4  the record is believed, not the store       internal/lifecycle.TestSimulatorFindsMutants
//	D4  the same with a store's files               test/e2e/workspace.TestDamages
//	D5  archived is when there is no volume         internal/lifecycle.TestSimulatorFindsMutants
//	D5  the same with volumes                       test/e2e/workspace.TestDamages
//	D6  what is lost is taken for new               internal/lifecycle.TestSimulatorFindsMutants
//	D6  the same with volumes                       test/e2e/workspace.TestDamages
//	D7  a late mover overwrites an archive          internal/lifecycle.TestSimulatorFindsMutants
//	D7  the same with a store                       internal/archive/mover.TestAZombieChangesNothing
//	D10 time runs while nobody looks                internal/lifecycle.TestCasesFindMutants
//	D10 the same with a manager that is away        test/e2e/workspace.TestManagerAwayForHours
//	D12 nobody can turn back                        internal/lifecycle.TestCasesFindMutants
//	D12 the same with a mover at work               test/e2e/workspace.TestTurnBack
//	D14 collected by an old list                    internal/lifecycle.TestCollectNaively
//	D14 the same with a store                       controller/archivegc.TestAnArchiveThatIsTakenUpInTheLastMoment
//	D15 who has just started is idle                internal/lifecycle.TestIdle
//	D15 the same with the API                       controller/workspaceidle.TestAnIdleWorkspaceIsLoweredOnce
//	D17 a Pod on a volume that goes                 internal/lifecycle.TestSimulatorFindsMutants
//	D17 the same with volumes                       test/e2e/workspace.TestDamages
//	D18 an ended mover holds the volume             internal/lifecycle.TestSimulatorFindsMutants
//	D20 whatever has the name is ours               internal/lifecycle.TestSimulatorFindsMutants
//	D23 no bucket is no archive                     internal/lifecycle.TestSimulatorFindsMutants
//	D23 the same with a store                       internal/archive.TestAMissingBucketIsNoLoss
//	D23 another bucket is no archive                test/e2e/workspace.TestAnArchiveInAnotherBucketIsNotLost
package workspace
