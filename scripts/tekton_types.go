// What make_tekton_types.py runs: the types that the decoder of Tekton's webhook meets, by reflection.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/apis/pipeline/v1alpha1"
	"github.com/tektoncd/pipeline/pkg/apis/pipeline/v1beta1"
)

var (
	types       = map[string][]any{}
	unmarshaler = reflect.TypeOf((*json.Unmarshaler)(nil)).Elem()
)

func id(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == "" {
		switch t.Kind() {
		case reflect.Slice:
			return "[]" + id(t.Elem())
		case reflect.Map:
			return "map[string]" + id(t.Elem())
		}
		return t.String()
	}
	parts := strings.Split(t.PkgPath(), "/")
	home := strings.Join(parts[len(parts)-2:], "/")
	if strings.HasPrefix(t.PkgPath(), "github.com/tektoncd/pipeline/") {
		home = strings.TrimPrefix(home, "pipeline/")
	}
	return home + "." + t.Name()
}

func visit(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := id(t)
	if _, seen := types[name]; seen {
		return name
	}
	types[name] = nil
	if reflect.PointerTo(t).Implements(unmarshaler) {
		kind := "any"
		switch t.String() {
		case "resource.Quantity":
			kind = "quantity"
		case "v1.Duration":
			kind = "duration"
		}
		types[name] = []any{kind, t.String()}
		return name
	}
	switch t.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		types[name] = []any{"struct", t.String(), fields}
		add(t, "", fields)
	case reflect.Slice:
		types[name] = []any{"list", t.String(), visit(t.Elem())}
	case reflect.Map:
		types[name] = []any{"map", t.String(), visit(t.Elem())}
	case reflect.Int, reflect.Int32, reflect.Int64:
		types[name] = []any{"int", t.String(), t.Bits() - 1}
	case reflect.Bool, reflect.String:
		types[name] = []any{t.Kind().String(), t.String()}
	default:
		types[name] = []any{"any", t.String()}
	}
	return name
}

func add(t reflect.Type, within string, fields map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" && f.Anonymous {
			add(f.Type, within+f.Name+".", fields)
			continue
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		if _, shallower := fields[tag]; shallower {
			continue
		}
		held := visit(f.Type)
		if within == "" {
			fields[tag] = held
		} else {
			fields[tag] = []string{held, within}
		}
	}
}

func main() {
	kinds := map[string]map[string]string{
		"tekton.dev/v1": {
			"Task": visit(reflect.TypeOf(v1.TaskSpec{})), "TaskRun": visit(reflect.TypeOf(v1.TaskRunSpec{})),
			"Pipeline": visit(reflect.TypeOf(v1.PipelineSpec{})), "PipelineRun": visit(reflect.TypeOf(v1.PipelineRunSpec{})),
		},
		"tekton.dev/v1beta1": {
			"Task": visit(reflect.TypeOf(v1beta1.TaskSpec{})), "TaskRun": visit(reflect.TypeOf(v1beta1.TaskRunSpec{})),
			"Pipeline": visit(reflect.TypeOf(v1beta1.PipelineSpec{})), "PipelineRun": visit(reflect.TypeOf(v1beta1.PipelineRunSpec{})),
			"StepAction": visit(reflect.TypeOf(v1beta1.StepActionSpec{})),
		},
		"tekton.dev/v1alpha1": {"StepAction": visit(reflect.TypeOf(v1alpha1.StepActionSpec{}))},
	}
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]any{"kinds": kinds, "types": types})
}
