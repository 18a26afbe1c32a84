// Command gen writes config/grafana/kyklos.json, the dashboard, from the table in panels.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

//go:generate go run . ../kyklos.json

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DASHBOARD.json")
		os.Exit(2)
	}
	content, err := json.MarshalIndent(newDashboard(rows), "", "  ")
	if err == nil {
		err = os.WriteFile(os.Args[1], append(content, '\n'), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// row is a titled line of panels.
type row struct {
	title  string
	panels []panel
}

// panel is one picture. A stat or table shows the present, a timeseries the dashboard's range.
type panel struct {
	title, kind, unit string
	// about says in a sentence what is seen and what would be wrong.
	about string
	// width is of the dashboard's 24 columns.
	width int
	// queries are PromQL by what each line is called; labels stand in {{}}.
	queries []query
	// bad is the value from which on a stat is red; 0 for never.
	bad float64
}

type query struct{ expr, legend string }

const (
	stat       = "stat"
	timeseries = "timeseries"
	table      = "table"
	columns    = 24
)

// object is JSON as Grafana's dashboard model has it (schema version 39, Grafana 11).
type object = map[string]any

func newDashboard(rows []row) object {
	var panels []object
	id, y := 0, 0
	next := func() int { id++; return id }
	for _, r := range rows {
		panels = append(panels, object{"id": next(), "type": "row", "title": r.title, "collapsed": false, "panels": []any{},
			"gridPos": object{"h": 1, "w": columns, "x": 0, "y": y}})
		y++
		x, height := 0, 0
		for _, p := range r.panels {
			if x+p.width > columns {
				x, y, height = 0, y+height, 0
			}
			shape := object{"h": p.height(), "w": p.width, "x": x, "y": y}
			panels = append(panels, p.object(next(), shape))
			x, height = x+p.width, max(height, p.height())
		}
		y += height
	}
	return object{
		"uid": "kyklos", "title": "Kyklos", "tags": []string{"kyklos"}, "schemaVersion": 39, "version": 1,
		"description": "Schedules and Workspaces, what they did, and the manager's health. docs/metrics.md describes the metrics.",
		"timezone":    "browser", "editable": true, "graphTooltip": 1, "refresh": "30s",
		"time":       object{"from": "now-6h", "to": "now"},
		"templating": object{"list": variables()},
		"panels":     panels,
	}
}

// variables are the choices at the top: the data source, and whose schedules and Workspaces are shown.
func variables() []object {
	all := func(name, label, query string) object {
		return object{"name": name, "label": label, "type": "query", "datasource": datasource(), "refresh": 2, "sort": 1,
			"query": object{"query": query, "refId": name}, "definition": query,
			"multi": true, "includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"}}
	}
	return []object{
		{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": object{}},
		all("namespace", "Namespace", `label_values({__name__=~"kyklos_degraded|kyklos_workspace_state"}, namespace)`),
		all("tws_name", "TimeWindowScaler", `label_values(kyklos_degraded{namespace=~"$namespace"}, tws_name)`),
	}
}

func datasource() object { return object{"type": "prometheus", "uid": "${datasource}"} }

func (p panel) height() int {
	if p.kind == stat {
		return 4
	}
	return 8
}

func (p panel) object(id int, shape object) object {
	var targets []object
	for i, q := range p.queries {
		target := object{"refId": string(rune('A' + i)), "datasource": datasource(), "expr": q.expr, "legendFormat": q.legend}
		if p.kind == timeseries {
			target["range"] = true
		} else {
			target["instant"] = true
		}
		if p.kind == table {
			target["format"] = "table"
		}
		targets = append(targets, target)
	}
	o := object{"id": id, "type": p.kind, "title": p.title, "description": p.about, "gridPos": shape,
		"datasource": datasource(), "targets": targets, "fieldConfig": object{"defaults": p.defaults(), "overrides": []any{}}}
	switch p.kind {
	case stat:
		o["options"] = object{"colorMode": "background", "graphMode": "none", "textMode": "auto",
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}}
	case table:
		o["transformations"] = []object{{"id": "organize", "options": object{"excludeByName": object{"Time": true}}}}
	}
	return o
}

func (p panel) defaults() object {
	steps := []object{{"color": "green", "value": nil}}
	if p.bad != 0 {
		steps = append(steps, object{"color": "red", "value": p.bad})
	}
	return object{"unit": p.unit, "thresholds": object{"mode": "absolute", "steps": steps}}
}
