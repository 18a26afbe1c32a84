package main

import "testing"

func TestParseFlags(t *testing.T) {
	for _, c := range []struct {
		args      []string
		dir, fail string
	}{
		{nil, ".devcluster", ""},
		{[]string{"--dir", "other"}, "other", ""},
		{[]string{"other"}, "", `unexpected argument "other": name the folder with --dir`},
	} {
		dir, err := parseFlags(c.args)
		if failure := message(err); dir != c.dir || failure != c.fail {
			t.Errorf("%q: %q, %q; want %q, %q", c.args, dir, failure, c.dir, c.fail)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
