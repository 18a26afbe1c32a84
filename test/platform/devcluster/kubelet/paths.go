package kubelet

import (
	"path"
	"slices"
	"strings"
)

// mounted is one path inside a container and what it is on this machine.
type mounted struct{ inside, host string }

// paths are a container's mounts, the longest first, so that a mount below another one wins.
type paths []mounted

func newPaths(mounts ...mounted) paths {
	for i := range mounts {
		mounts[i].inside = path.Clean(mounts[i].inside)
	}
	slices.SortStableFunc(mounts, func(a, b mounted) int { return len(b.inside) - len(a.inside) })
	return mounts
}

// host returns text with every path below a mount turned into the path on this machine: also behind a
// flag's "=" and inside a shell's script, but not as a part of another path ("/srv/data" with "/data"
// mounted) or of another name ("/database").
func (p paths) host(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		if at := p.at(text, i); at != nil {
			out.WriteString(at.host)
			i += len(at.inside)
			continue
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

// at is the mount whose path begins at text[i], or nil.
func (p paths) at(text string, i int) *mounted {
	if text[i] != '/' || i > 0 && inName(text[i-1]) {
		return nil
	}
	for j := range p {
		rest, begins := strings.CutPrefix(text[i:], p[j].inside)
		if begins && (rest == "" || rest[0] == '/' || !inName(rest[0])) {
			return &p[j]
		}
	}
	return nil
}

// inName reports whether the character belongs to a path and does not end it. A "/" in front of a path is a longer path
// or the "//" of a URL.
func inName(c byte) bool {
	return c == '/' || c == '.' || c == '-' || c == '_' || c >= 0x80 ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
