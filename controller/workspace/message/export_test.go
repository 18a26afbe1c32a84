package message

import "kyklos.io/kyklos/internal/lifecycle"

// EventOf says which event there is for a word.
func EventOf(word lifecycle.Code) string {
	switch tell := texts[word].tell; {
	case tell == good:
		return "Normal"
	case tell == bad, tell == news:
		return "Warning"
	case word == lifecycle.CodePodGone:
		return "Warning, if nobody asked for it"
	case word == lifecycle.CodeVolumeTerminating:
		return "Warning, if somebody else deletes the home"
	default:
		return ""
	}
}
