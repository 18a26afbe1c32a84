local os = require("os")

-- How long a trouble that may pass by itself lasts, in seconds, before it makes the application Degraded.
-- Any other reason is Degraded at once: nothing but a person ends it.
local patience = {
  TargetNotFound = 120,
  TargetConflict = 120,
  TargetForbidden = 120,
  HolidaySourceMissing = 120,
  ScaleFailed = 120,
  TargetUnavailable = 120,
  MetricUnavailable = 600,
}

-- A time as Kubernetes writes it, so many seconds ago. Such times compare as text. os.date knows UTC only for
-- the present time, hence the offset of the local clock.
local function ago(seconds)
  local now = os.time()
  local offset = now - os.time(os.date("!*t"))
  return os.date("%Y-%m-%dT%H:%M:%SZ", now - offset - seconds)
end

local function verdict(status, message)
  return {status = status, message = message}
end

if obj.status == nil or obj.status.conditions == nil then
  return verdict("Progressing", "Kyklos has not seen it yet")
end
if obj.status.observedGeneration == nil or obj.status.observedGeneration < obj.metadata.generation then
  return verdict("Progressing", "Kyklos has not seen the latest change yet")
end

local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
local ready, reconciling, degraded = conditions.Ready, conditions.Reconciling, conditions.Degraded
if ready == nil then
  return verdict("Progressing", "Kyklos has not decided yet")
end

-- Degraded names the gravest trouble; what keeps the target from being scaled may be in Ready alone.
local trouble = nil
if degraded ~= nil and degraded.status == "True" then
  trouble = degraded
elseif ready.status ~= "True" and ready.reason ~= "TargetMismatch" and ready.reason ~= "BeingDeleted" then
  trouble = ready
end
if trouble ~= nil then
  local wait = patience[trouble.reason]
  if wait == nil or trouble.lastTransitionTime < ago(wait) then
    return verdict("Degraded", trouble.message)
  end
  -- Without its metric a window has its own replicas, so nothing is missing that anyone should wait for.
  if trouble.reason ~= "MetricUnavailable" then
    return verdict("Progressing", trouble.message)
  end
end

if obj.spec.pause then
  return verdict("Suspended", "Paused: " .. ready.message)
end
if ready.status ~= "True" or (reconciling ~= nil and reconciling.status == "True") then
  return verdict("Progressing", ready.message)
end
if trouble ~= nil then
  return verdict("Healthy", trouble.message)
end
return verdict("Healthy", ready.message)
