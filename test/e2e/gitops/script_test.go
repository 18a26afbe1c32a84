package gitops

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// These folders customize Argo CD for the kinds, in the layout of its own repository.
const (
	scripts          = "config/argocd/resource_customizations/kyklos.io/TimeWindowScaler"
	workspaceScripts = "config/argocd/resource_customizations/kyklos.io/Workspace"
)

// runScript runs a script as Argo CD does: the object is the global obj, and the libraries are base, table, package, and
// the functions of os for time.
func runScript(t testing.TB, path string, object any) any {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		harness.Must(t, state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)))
	}
	state.PreloadModule(lua.OsLibName, func(state *lua.LState) int {
		lua.OpenOs(state)
		whole := state.CheckTable(-1)
		safe := state.NewTable()
		safe.RawSetString("time", whole.RawGetString("time"))
		safe.RawSetString("date", whole.RawGetString("date"))
		state.SetGlobal(lua.OsLibName, lua.LNil)
		state.Push(safe)
		return 1
	})
	state.SetGlobal("obj", toLua(state, object))
	harness.Must(t, state.DoFile(path))
	return fromLua(state.Get(-1))
}

// toLua converts the values of encoding/json.
func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, element := range value {
			table.RawSetString(key, toLua(state, element))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, element := range value {
			table.Append(toLua(state, element))
		}
		return table
	case string:
		return lua.LString(value)
	case float64:
		return lua.LNumber(value)
	case bool:
		return lua.LBool(value)
	default:
		return lua.LNil
	}
}

// fromLua is the reverse of toLua. A table with a first element is a list.
func fromLua(value lua.LValue) any {
	switch value := value.(type) {
	case *lua.LTable:
		if value.Len() > 0 {
			var list []any
			value.ForEach(func(_, element lua.LValue) { list = append(list, fromLua(element)) })
			return list
		}
		object := map[string]any{}
		value.ForEach(func(key, element lua.LValue) { object[key.String()] = fromLua(element) })
		return object
	case lua.LString:
		return string(value)
	case lua.LNumber:
		return float64(value)
	case lua.LBool:
		return bool(value)
	default:
		return nil
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	harness.Must(t, err)
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
