package bench

// Area is a part of `make bench`, and a section of docs/benchmarks.md.
type Area struct {
	// ID is what BENCH names.
	ID, Title string
	// Text says what is measured, and beside what.
	Text string
}

// Areas are in the order of the page.
var Areas = []Area{
	{"engine", "Time engine", "The count that is due and the next boundary, for windows of weekdays. Beside: the calls of Next with which a scheduler on robfig/cron would find the same boundary. These give no count yet. Go is fast with a zone in the season in which it was loaded, hence the rows for half a year on. Embedded zones are those of a program that finds no zone files."},
	{"storm", "Changes at a boundary", "From a boundary to the last changed count that a watch sees. Beside: a bare client that sends the same writes, as many at once as the API server takes, and nothing else."},
	{"admission", "Admission", "Creating a schedule for a Deployment that exists, as a ServiceAccount with the role edit, beside 10 other schedules and beside 10,000. Beside: the same without the webhooks, in turns; the API server's store syncs its files. Webhooks that do nothing show what API servers need to call any two."},
	{"conversion", "Conversion", "LIST of 10,000 schedules in v1alpha1, half of which use fields that only v1beta1 has. Beside: the same in v1beta1, which needs no conversion. Cold is right after the API server has dropped its caches; then it converts the objects one by one. A conversion that changes nothing but the version shows what API servers need for that."},
	{"failover", "Failover", "From a boundary at which the leader ends or freezes to the last write, which is that of the next leader. A leader that is told to end (SIGTERM) releases its Lease; otherwise the Lease lasts 13 seconds from its last renewal."},
	{"lint", "Lint", "A thousand manifests, read and checked. Validation is that of the API server; the rules are those of `kyklos lint`."},
	{"workspaces", "Workspaces", "The built manager on a real API server. A pass is what a Workspace costs once a minute while nothing is to be done. Starts and stops are asked for at once; Pods are simulated, and ready at once. Their time is until the last one has settled, divided by their number."},
	{"archives", "Archives", "Archiving and restoring a home. Beside: tar with gzip or zstd, and restic with a new repository, on the same files, in turns. Ours include what the others do not do: reading the archive back and comparing it. `ARCHIVES=300000,20GB` chooses homes by the number of small files or the size of one; half of that one does not compress."},
	{"sizing", "What a manager needs", "The shipped manager with a Deployment for each schedule, all in one namespace. Memory is resident memory. Most of it without any schedule is the program itself, which replicas on one node share."},
}
