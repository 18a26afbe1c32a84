package source

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

// FromCluster returns the scalers of a namespace, or of all if it is "", with their state, and those that are invalid. names
// selects some; none selects all. holidays are dates for every scaler that follows holidays; nil reads the cluster's ConfigMaps.
func FromCluster(ctx context.Context, cluster client.Reader, namespace string, names, holidays []string) (scalers []*Scaler, problems []*Problem, err error) {
	all, err := Objects(ctx, cluster, namespace, names)
	if err != nil {
		return nil, nil, err
	}
	configMaps := configMaps{cluster: cluster}
	for i := range all {
		tws := &all[i]
		key := types.NamespacedName{Namespace: tws.Namespace, Name: tws.Name}
		known := Holidays{Keys: holidays}
		if holidays == nil {
			if known, err = configMaps.of(ctx, tws); err != nil {
				return nil, nil, err
			}
		}
		scaler, err := Read(tws, func(string) Holidays { return known })
		if err != nil {
			problems = append(problems, &Problem{Name: key, Err: err})
			continue
		}
		scaler.State = &tws.Status
		scalers = append(scalers, scaler)
	}
	return scalers, problems, nil
}

// Complete adds to scalers from manifests the cluster's dates of missing ConfigMaps, and the state of existing objects.
func Complete(ctx context.Context, cluster client.Reader, scalers []*Scaler) error {
	configMaps := configMaps{cluster: cluster}
	for _, s := range scalers {
		if s.HolidaysMissing {
			known, err := configMaps.of(ctx, s.TimeWindowScaler)
			if err != nil {
				return err
			}
			s.setHolidays(known)
		}
		var live v1beta1.TimeWindowScaler
		switch err := cluster.Get(ctx, s.Key(), &live); {
		case err == nil:
			s.State = &live.Status
		case !apierrors.IsNotFound(err):
			return readError("TimeWindowScaler "+s.Key().String(), err)
		}
	}
	return nil
}

// Objects returns the named TimeWindowScalers of a namespace, or all, including those with invalid specs.
func Objects(ctx context.Context, cluster client.Reader, namespace string, names []string) ([]v1beta1.TimeWindowScaler, error) {
	if len(names) == 0 || namespace == "" {
		var list v1beta1.TimeWindowScalerList
		if err := cluster.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, readError("the TimeWindowScalers", err)
		}
		return slices.DeleteFunc(list.Items, func(tws v1beta1.TimeWindowScaler) bool {
			return len(names) > 0 && !slices.Contains(names, tws.Name)
		}), nil
	}
	all := make([]v1beta1.TimeWindowScaler, len(names))
	for i, name := range names {
		if err := cluster.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &all[i]); err != nil {
			return nil, readError("TimeWindowScaler "+namespace+"/"+name, err)
		}
	}
	return all, nil
}

func readError(what string, err error) error {
	switch {
	case meta.IsNoMatchError(err):
		return fmt.Errorf("read %s: Kyklos is not installed in this cluster: %w", what, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s does not exist in the cluster: kubectl get timewindowscalers -A lists the existing ones", what)
	default:
		return fmt.Errorf("read %s: %w", what, err)
	}
}

// configMaps reads the ConfigMaps of holidays, each once.
type configMaps struct {
	cluster client.Reader
	known   map[types.NamespacedName]Holidays
}

// of returns the holidays of a scaler. If the user may not read them, today's holiday in the status is all that is known.
func (c *configMaps) of(ctx context.Context, tws *v1beta1.TimeWindowScaler) (Holidays, error) {
	name := types.NamespacedName{Namespace: tws.Namespace, Name: schedule.HolidaySource(&tws.Spec)}
	if name.Name == "" {
		return Holidays{}, nil
	}
	holidays, known := c.known[name]
	if !known {
		var err error
		if holidays, err = c.read(ctx, name); err != nil {
			return Holidays{}, err
		}
		if c.known == nil {
			c.known = make(map[types.NamespacedName]Holidays)
		}
		c.known[name] = holidays
	}
	if today := tws.Status.Holiday; (holidays.Unread != "" || holidays.Missing) && today != "" {
		holidays.Keys = []string{today}
	}
	return holidays, nil
}

func (c *configMaps) read(ctx context.Context, name types.NamespacedName) (Holidays, error) {
	var configMap corev1.ConfigMap
	switch err := c.cluster.Get(ctx, name, &configMap); {
	case apierrors.IsNotFound(err):
		return Holidays{Missing: true}, nil
	case apierrors.IsForbidden(err):
		return Holidays{Unread: err.Error()}, nil
	case err != nil:
		return Holidays{}, readError("ConfigMap "+name.String(), err)
	}
	return Holidays{Keys: schedule.HolidayKeys(&configMap)}, nil
}

// ClusterHolidays returns the holidays of a scaler, as far as the user may read them.
func ClusterHolidays(ctx context.Context, cluster client.Reader, tws *v1beta1.TimeWindowScaler) (Holidays, error) {
	return (&configMaps{cluster: cluster}).of(ctx, tws)
}
