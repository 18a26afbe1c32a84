// Package podtemplate reads spec.template of a Workspace and says what is wrong with it. The webhooks, lint and the controller
// judge by it alike, so that a template that was accepted is not refused later.
package podtemplate
