package policies

import (
	"context"
	"strings"

	"sigs.k8s.io/knftables"
)

// apply replaces all rules in one transaction: there is no moment without rules.
func apply(ctx context.Context, nft knftables.Interface, podRange string, pods []podRules) error {
	change := nft.NewTransaction()
	// Adding it first makes deleting it succeed.
	change.Add(&knftables.Table{})
	change.Delete(&knftables.Table{})
	change.Add(&knftables.Table{})
	addMaps(change)
	for _, pod := range pods {
		addPod(change, pod)
	}
	addHooks(change, podRange)
	return nft.Run(ctx, change)
}

func addMaps(change *knftables.Transaction) {
	change.Add(&knftables.Set{Name: "known", Type: "ipv4_addr"})
	for _, direction := range []string{"egress", "ingress"} {
		change.Add(&knftables.Map{Name: direction, Type: "ipv4_addr : verdict"})
	}
}

func addPod(change *knftables.Transaction, pod podRules) {
	change.Add(&knftables.Element{Set: "known", Key: []string{pod.address}})
	addChain(change, "egress", pod.address, "ip daddr "+pod.address, pod.egress)
	addChain(change, "ingress", pod.address, "ip saddr "+pod.address, pod.ingress)
}

// addChain drops what none of the conditions lets return to the hook's chain. A pod always reaches itself.
func addChain(change *knftables.Transaction, direction, address, itself string, conditions []string) {
	if conditions == nil {
		return
	}
	chain := direction + "-" + strings.ReplaceAll(address, ".", "-")
	change.Add(&knftables.Chain{Name: chain})
	for _, condition := range append([]string{itself}, conditions...) {
		change.Add(&knftables.Rule{Chain: chain, Rule: join(condition, "return")})
	}
	change.Add(&knftables.Rule{Chain: chain, Rule: "drop"})
	change.Add(&knftables.Element{Map: direction, Key: []string{address}, Value: []string{"jump " + chain}})
}

// addHooks: traffic of pods is judged where it is forwarded (after services became pods) and where it comes in to the
// node itself. What the node sends to its own pods always passes, as the API demands.
func addHooks(change *knftables.Transaction, podRange string) {
	filter := knftables.PtrTo(knftables.FilterPriority)
	change.Add(&knftables.Chain{Name: "from-pods"})
	for _, rule := range []string{
		// Answers pass; the other direction of a connection is judged anew with each packet, so that a policy that
		// is made later cuts it.
		"ct direction reply return",
		"ct state related return",
		"ip saddr " + podRange + " fib saddr . iif oif missing drop",
		// A pod whose address is not known yet can't be told from one that must be isolated.
		"ip saddr " + podRange + " ip saddr != @known drop",
		"ip saddr vmap @egress",
	} {
		change.Add(&knftables.Rule{Chain: "from-pods", Rule: rule})
	}
	change.Add(&knftables.Chain{Name: "to-pods"})
	for _, rule := range []string{
		"ct direction reply return",
		"ct state related return",
		"ip daddr " + podRange + " ip daddr != @known drop",
		"ip daddr vmap @ingress",
	} {
		change.Add(&knftables.Rule{Chain: "to-pods", Rule: rule})
	}
	hooks := map[string]knftables.BaseChainHook{"input": knftables.InputHook, "forward": knftables.ForwardHook}
	for name, hook := range hooks {
		change.Add(&knftables.Chain{
			Name: name, Type: knftables.PtrTo(knftables.FilterType), Hook: knftables.PtrTo(hook), Priority: filter,
		})
		// Pods have no IPv6 address but the one that every interface makes for itself.
		change.Add(&knftables.Rule{Chain: name, Rule: `iifname "veth*" meta nfproto ipv6 drop`})
		// Nor may a pod speak from an address that is none of a pod's.
		change.Add(&knftables.Rule{Chain: name, Rule: `iifname "veth*" ip saddr != ` + podRange + " drop"})
		change.Add(&knftables.Rule{Chain: name, Rule: "jump from-pods"})
	}
	change.Add(&knftables.Rule{Chain: "forward", Rule: "jump to-pods"})
}
