// Package policies enforces NetworkPolicy on the one node of the test cluster by nftables.
//
// What exists for this needs a kernel with nft_queue and leaves the node's own addresses open, or ipsets and the whole
// of a routing suite; on one node and for tens of pods the rules can simply be written anew at each change.
package policies

import (
	"context"
	"fmt"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/knftables"
)

const (
	tableName = "network-policies"
	// Events that come together make one change of the rules.
	gather = 10 * time.Millisecond
	retry  = time.Second
	// Rules that someone else changed or removed come back.
	resync = time.Minute
)

// NewCommand is the component: it runs until SIGTERM and leaves its rules in force.
func NewCommand() *cobra.Command {
	var kubeconfig, podRange string
	command := &cobra.Command{
		Use:          "network-policies",
		Short:        "Enforces NetworkPolicy for the pods of this node by nftables",
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return run(ctx, kubeconfig, podRange)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	command.Flags().StringVar(&podRange, "pod-range", "", "IPv4 range of all pods")
	return command
}

func run(ctx context.Context, kubeconfig, podRange string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	nft, err := knftables.New(knftables.InetFamily, tableName)
	if err != nil {
		return fmt.Errorf("nftables can't be used: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, resync)
	pods := factory.Core().V1().Pods()
	namespaces := factory.Core().V1().Namespaces()
	rules := factory.Networking().V1().NetworkPolicies()
	changed := make(chan struct{}, 1)
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), rules.Informer()} {
		if _, err := informer.AddEventHandler(notify(changed)); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("%v were never listed", kind)
		}
	}
	snapshot := func() (state, error) {
		var now state
		var err error
		if now.pods, err = pods.Lister().List(labels.Everything()); err != nil {
			return now, err
		}
		if now.namespaces, err = namespaces.Lister().List(labels.Everything()); err != nil {
			return now, err
		}
		now.policies, err = rules.Lister().List(labels.Everything())
		return now, err
	}
	var last []podRules
	var applied time.Time
	return follow(ctx, changed, func() error {
		now, err := snapshot()
		if err != nil {
			return err
		}
		wanted := compile(now)
		if reflect.DeepEqual(wanted, last) && time.Since(applied) < resync/2 {
			return nil
		}
		if err := apply(ctx, nft, podRange, wanted); err != nil {
			return err
		}
		last, applied = wanted, time.Now()
		return nil
	})
}

// state is all that the rules are made from.
type state struct {
	pods       []*corev1.Pod
	namespaces []*corev1.Namespace
	policies   []*networkingv1.NetworkPolicy
}

func notify(changed chan<- struct{}) cache.ResourceEventHandler {
	mark := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { mark() },
		UpdateFunc: func(any, any) { mark() },
		DeleteFunc: func(any) { mark() },
	}
}

// follow calls update at once and after each change, again after a failure.
func follow(ctx context.Context, changed <-chan struct{}, update func() error) error {
	for {
		var again <-chan time.Time
		if err := update(); err != nil {
			klog.ErrorS(err, "The rules could not be changed; the former ones stay in force")
			again = time.After(retry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-changed:
			time.Sleep(gather)
		}
	}
}
