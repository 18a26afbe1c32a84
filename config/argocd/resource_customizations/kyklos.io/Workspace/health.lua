-- Waiting that nothing but a person ends. Any other waiting is Progressing, for want of a limit or a mover too;
-- what fails for good is Stalled.
local lasting = {
  ArchiveForeign = true,
  ArchiveNotConfigured = true,
  ArchiveNotFound = true,
  KeptArchiveLost = true,
  RestartBackoff = true,
}

local function verdict(status, message)
  return {status = status, message = message}
end

if obj.status == nil or obj.status.conditions == nil then
  return verdict("Progressing", "Kyklos has not seen it yet")
end

local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
local ready, stalled = conditions.Ready, conditions.Stalled
local seen = obj.status.observedGeneration
if seen == nil and ready ~= nil then
  seen = ready.observedGeneration -- nothing else is recorded while a new one waits for its archive
end
if seen == nil or seen < obj.metadata.generation then
  return verdict("Progressing", "Kyklos has not seen the latest change yet")
end
if ready == nil then
  return verdict("Progressing", "Kyklos has not decided yet")
end

if stalled ~= nil and stalled.status == "True" then
  return verdict("Degraded", stalled.message)
end
if obj.spec.pause then
  return verdict("Suspended", "Paused: " .. ready.message)
end
if ready.status == "True" then
  return verdict("Healthy", ready.message)
end
if lasting[ready.reason] then
  return verdict("Degraded", ready.message)
end
return verdict("Progressing", ready.message)
