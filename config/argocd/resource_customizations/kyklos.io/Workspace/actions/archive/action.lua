obj.spec.desiredState = "PENDING"
return obj
