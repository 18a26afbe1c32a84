module kyklos.io/kyklos/test/platform/bench

go 1.26.0

require (
	github.com/robfig/cron/v3 v3.0.1
	kyklos.io/kyklos v0.0.0
)

replace kyklos.io/kyklos => ../../..
