local paused = obj.spec.pause == true
return {
  pause = {disabled = paused},
  resume = {disabled = not paused},
}
