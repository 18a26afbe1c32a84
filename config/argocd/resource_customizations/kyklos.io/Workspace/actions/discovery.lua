local wanted = obj.spec.desiredState
local paused = obj.spec.pause == true
return {
  start = {disabled = wanted == "RUNNING"},
  stop = {disabled = wanted == "STANDBY"},
  archive = {disabled = wanted == "PENDING" or obj.spec.archive == nil},
  pause = {disabled = paused},
  resume = {disabled = not paused},
}
