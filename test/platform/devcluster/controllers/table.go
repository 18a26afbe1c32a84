package controllers

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	svm "k8s.io/kubernetes/pkg/controller/storageversionmigrator"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
)

const (
	// workers per controller: enough to overlap requests, few enough for a small machine.
	workers = 5
	// discoverEvery is how soon the garbage collector learns of a new kind. kube-controller-manager takes
	// 30 s; a test that adds a CRD and deletes an owner should not wait for that.
	discoverEvery = 5 * time.Second
	// bindEvery is how soon a claim with a missed event is processed again, as in kube-controller-manager.
	bindEvery = 15 * time.Second
)

type build func(ctx context.Context, s *shared, c *clients) (run func(context.Context), err error)

// table lists the controllers by the name they have in kube-controller-manager, which is also the last
// part of their user agent. The ServiceAccount controller comes first: a start waits for its work.
var table = []struct {
	name  string
	build build
}{
	{"serviceaccount-controller", buildServiceAccount},
	{"root-ca-certificate-publisher-controller", buildRootCA},
	{"namespace-controller", buildNamespace},
	{"garbage-collector-controller", buildGarbageCollector},
	{"deployment-controller", buildDeployment},
	{"replicaset-controller", buildReplicaSet},
	{"statefulset-controller", buildStatefulSet},
	{"daemonset-controller", buildDaemonSet},
	{"job-controller", buildJob},
	{"disruption-controller", buildDisruption},
	{"persistentvolumeclaim-protection-controller", buildPVCProtection},
	{"persistentvolume-protection-controller", buildPVProtection},
	{"persistentvolume-binder-controller", buildPVBinder},
	{"clusterrole-aggregation-controller", buildClusterRoleAggregation},
	{"storage-version-migrator-controller", buildStorageVersionMigrator},
}

// withWorkers adapts the usual Run(ctx, workers) method.
func withWorkers(run func(context.Context, int), err error) (func(context.Context), error) {
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { run(ctx, workers) }, nil
}

// together runs several loops as one controller.
func together(runs ...func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		var all sync.WaitGroup
		for _, run := range runs {
			all.Go(func() { run(ctx) })
		}
		all.Wait()
	}
}

func buildServiceAccount(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	core := s.informers.Core().V1()
	controller, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(),
		c, serviceaccount.DefaultServiceAccountsControllerOptions())
	return withWorkers(controller.Run, err)
}

func buildRootCA(_ context.Context, s *shared, c *clients) (func(context.Context), error) {
	core := s.informers.Core().V1()
	controller, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), c, s.ca)
	return withWorkers(controller.Run, err)
}

func buildNamespace(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	controller := namespace.NewNamespaceController(ctx, c, c.metadata, c.Discovery().ServerPreferredNamespacedResources,
		s.informers.Core().V1().Namespaces(), 5*time.Minute, corev1.FinalizerKubernetes)
	return withWorkers(controller.Run, nil)
}

func buildGarbageCollector(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	collector, err := garbagecollector.NewComposedGarbageCollector(ctx, c, c.metadata, s.mapper, s.graph)
	if err != nil {
		return nil, err
	}
	return together(
		func(ctx context.Context) { collector.Run(ctx, workers, discoverEvery) },
		func(ctx context.Context) { collector.Sync(ctx, c.Discovery(), discoverEvery) },
	), nil
}

func buildDeployment(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	apps := s.informers.Apps().V1()
	controller, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), s.informers.Core().V1().Pods(), c)
	return withWorkers(controller.Run, err)
}

func buildReplicaSet(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	controller := replicaset.NewReplicaSetController(ctx, s.informers.Apps().V1().ReplicaSets(), s.informers.Core().V1().Pods(),
		c, replicaset.BurstReplicas)
	return withWorkers(controller.Run, nil)
}

func buildStatefulSet(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	apps, core := s.informers.Apps().V1(), s.informers.Core().V1()
	controller := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
		apps.ControllerRevisions(), c)
	return withWorkers(controller.Run, nil)
}

func buildDaemonSet(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	apps, core := s.informers.Apps().V1(), s.informers.Core().V1()
	controller, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(),
		c, flowcontrol.NewBackOff(time.Second, time.Minute))
	return withWorkers(controller.Run, err)
}

func buildJob(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	// The two nil informers belong to the alpha gate WorkloadWithJob, which stays off.
	controller, err := job.NewController(ctx, c, s.informers.Core().V1().Pods(), s.informers.Batch().V1().Jobs(), nil, nil)
	return withWorkers(controller.Run, err)
}

func buildDisruption(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	apps, core := s.informers.Apps().V1(), s.informers.Core().V1()
	scales, err := scale.NewForConfig(c.config, s.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(c.Discovery()))
	if err != nil {
		return nil, err
	}
	controller := disruption.NewDisruptionController(ctx, core.Pods(), s.informers.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), c, s.mapper, scales, c.Discovery())
	return withWorkers(controller.Run, nil)
}

func buildPVCProtection(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	core := s.informers.Core().V1()
	controller, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx), core.PersistentVolumeClaims(), core.Pods(), c)
	return withWorkers(controller.Run, err)
}

func buildPVProtection(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	controller, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), s.informers.Core().V1().PersistentVolumes(), c)
	return withWorkers(controller.Run, err)
}

// buildPVBinder binds claims to volumes, and asks provisioners that are not its own for those of the other classes.
func buildPVBinder(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	core := s.informers.Core().V1()
	controller, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
		KubeClient: c, SyncPeriod: bindEvery, EnableDynamicProvisioning: true,
		VolumeInformer: core.PersistentVolumes(), ClaimInformer: core.PersistentVolumeClaims(), PodInformer: core.Pods(),
		NodeInformer: core.Nodes(), ClassInformer: s.informers.Storage().V1().StorageClasses(),
	})
	if err != nil {
		return nil, err
	}
	return controller.Run, nil
}

func buildClusterRoleAggregation(_ context.Context, s *shared, c *clients) (func(context.Context), error) {
	controller := clusterroleaggregation.NewClusterRoleAggregation(s.informers.Rbac().V1().ClusterRoles(), c.RbacV1())
	return withWorkers(controller.Run, nil)
}

func buildStorageVersionMigrator(ctx context.Context, s *shared, c *clients) (func(context.Context), error) {
	objects, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	crds, err := apiextensions.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	migrations := s.informers.Storagemigration().V1().StorageVersionMigrations()
	return together(
		svm.NewSVMController(ctx, c, objects, migrations, "storage-version-migrator-controller", s.mapper, s.graph).Run,
		svm.NewResourceVersionController(ctx, c, c.Discovery(), c.metadata, migrations, s.mapper).Run,
		svm.NewCustomResourceController(ctx, c, migrations, crds.ApiextensionsV1().CustomResourceDefinitions()).Run,
	), nil
}
