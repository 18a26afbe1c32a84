package events

import "fmt"

// The reasons of events on a CustomResourceDefinition.
const (
	ReasonStorageMigrationStarted   = "StorageMigrationStarted"
	ReasonStorageMigrationProgress  = "StorageMigrationProgress"
	ReasonStorageMigrationCompleted = "StorageMigrationCompleted"
	ReasonStorageMigrationRefused   = "StorageMigrationRefused"
)

// EmitMigrationStarted says that objects are being rewritten as version, and by whom and why.
func EmitMigrationStarted(version, storedVersions, how string) Event {
	return normal(ReasonStorageMigrationStarted, "RewriteAs"+version,
		fmt.Sprintf("Rewriting all objects as %s, %s (status.storedVersions: %s)", version, how, storedVersions))
}

// EmitMigrationProgress says how many objects are left, and what became of the others.
func EmitMigrationProgress(version string, left int, results string) Event {
	return normal(ReasonStorageMigrationProgress, "RewriteAs"+version,
		fmt.Sprintf("%d objects are left to rewrite as %s (%s)", left, version, results))
}

// EmitMigrationCompleted says that no object is stored in another version any more.
func EmitMigrationCompleted(version, how string) Event {
	return normal(ReasonStorageMigrationCompleted, "RewriteAs"+version,
		fmt.Sprintf("All objects are stored as %s (%s)", version, how))
}

// EmitMigrationRefused says how many objects could not be rewritten, and why the first could not.
func EmitMigrationRefused(version string, count int, first string) Event {
	return warning(ReasonStorageMigrationRefused, "RewriteAs"+version,
		fmt.Sprintf("%d objects cannot be rewritten as %s and will be tried again; the others are done; %s", count, version, first))
}
