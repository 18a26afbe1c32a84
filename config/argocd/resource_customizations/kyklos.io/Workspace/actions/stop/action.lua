obj.spec.desiredState = "STANDBY"
return obj
