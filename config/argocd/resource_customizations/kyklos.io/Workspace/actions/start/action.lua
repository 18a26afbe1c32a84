obj.spec.desiredState = "RUNNING"
return obj
