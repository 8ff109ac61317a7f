package policies

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// podRules is what the policies make of one pod: the conditions under which its traffic passes, by direction;
// nil: not isolated in this direction, so everything passes.
type podRules struct {
	address string
	egress  []string
	ingress []string
}

// compile gives the rules of every pod that has an address, ordered by it.
func compile(now state) []podRules {
	world := newWorld(now)
	result := make([]podRules, 0, len(world.pods))
	for _, pod := range world.pods {
		rules := podRules{address: pod.Status.PodIP}
		for _, policy := range now.policies {
			if policy.Namespace != pod.Namespace || !selects(&policy.Spec.PodSelector, pod.Labels) {
				continue
			}
			for _, kind := range policy.Spec.PolicyTypes {
				if kind == networkingv1.PolicyTypeEgress {
					rules.egress = append(isolated(rules.egress), world.egress(policy)...)
				} else {
					rules.ingress = append(isolated(rules.ingress), world.ingress(policy, pod)...)
				}
			}
		}
		result = append(result, rules)
	}
	return result
}

func isolated(conditions []string) []string {
	if conditions == nil {
		return []string{}
	}
	return conditions
}

type world struct {
	pods       []*corev1.Pod
	namespaces map[string]labels.Set
}

func newWorld(now state) world {
	all := world{namespaces: map[string]labels.Set{}}
	for _, namespace := range now.namespaces {
		all.namespaces[namespace.Name] = namespace.Labels
	}
	for _, pod := range now.pods {
		// The address of a pod that has ended may be another's by now.
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if pod.Status.PodIP != "" && !pod.Spec.HostNetwork && !ended {
			all.pods = append(all.pods, pod)
		}
	}
	sort.Slice(all.pods, func(i, j int) bool { return all.pods[i].Status.PodIP < all.pods[j].Status.PodIP })
	return all
}

func (w world) egress(policy *networkingv1.NetworkPolicy) []string {
	var conditions []string
	for _, rule := range policy.Spec.Egress {
		ports, named := portMatches(rule.Ports)
		for _, peer := range w.peerMatches("daddr", policy.Namespace, rule.To) {
			for _, port := range ports {
				conditions = append(conditions, join(peer, port))
			}
		}
		// A name means another port at each destination.
		for _, pod := range w.destinations(policy.Namespace, rule.To) {
			for _, port := range containerPorts(pod, named) {
				conditions = append(conditions, join("ip daddr "+pod.Status.PodIP, port))
			}
		}
	}
	return conditions
}

func (w world) ingress(policy *networkingv1.NetworkPolicy, pod *corev1.Pod) []string {
	var conditions []string
	for _, rule := range policy.Spec.Ingress {
		ports, named := portMatches(rule.Ports)
		ports = append(ports, containerPorts(pod, named)...)
		for _, peer := range w.peerMatches("saddr", policy.Namespace, rule.From) {
			for _, port := range ports {
				conditions = append(conditions, join(peer, port))
			}
		}
	}
	return conditions
}

// peerMatches gives one match for each block and one for all selected pods; no peers at all stand for everyone.
func (w world) peerMatches(side, namespace string, peers []networkingv1.NetworkPolicyPeer) []string {
	if len(peers) == 0 {
		return []string{""}
	}
	var matches, addresses []string
	for _, peer := range peers {
		if peer.IPBlock != nil {
			matches = append(matches, blockMatch(side, peer.IPBlock)...)
			continue
		}
		for _, pod := range w.pods {
			if w.isPeer(pod, namespace, peer) {
				addresses = append(addresses, pod.Status.PodIP)
			}
		}
	}
	if len(addresses) > 0 {
		matches = append(matches, fmt.Sprintf("ip %s { %s }", side, strings.Join(unique(addresses), ", ")))
	}
	return matches
}

// blockMatch has no match for IPv6: no pod has such an address.
func blockMatch(side string, block *networkingv1.IPBlock) []string {
	if strings.Contains(block.CIDR, ":") {
		return nil
	}
	match := fmt.Sprintf("ip %s %s", side, block.CIDR)
	for _, except := range block.Except {
		match += fmt.Sprintf(" ip %s != %s", side, except)
	}
	return []string{match}
}

func (w world) destinations(namespace string, peers []networkingv1.NetworkPolicyPeer) []*corev1.Pod {
	if len(peers) == 0 {
		return w.pods
	}
	var pods []*corev1.Pod
	for _, pod := range w.pods {
		for _, peer := range peers {
			if peer.IPBlock == nil && w.isPeer(pod, namespace, peer) {
				pods = append(pods, pod)
				break
			}
		}
	}
	return pods
}

func (w world) isPeer(pod *corev1.Pod, namespace string, peer networkingv1.NetworkPolicyPeer) bool {
	if peer.NamespaceSelector == nil && pod.Namespace != namespace {
		return false
	}
	if peer.NamespaceSelector != nil && !selects(peer.NamespaceSelector, w.namespaces[pod.Namespace]) {
		return false
	}
	return peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)
}

// portMatches gives a match for each port; those that are given by name come apart. No ports stand for all.
func portMatches(ports []networkingv1.NetworkPolicyPort) (matches []string, named []networkingv1.NetworkPolicyPort) {
	if len(ports) == 0 {
		return []string{""}, nil
	}
	for _, port := range ports {
		protocol := protocolOf(port)
		switch {
		case port.Port == nil:
			matches = append(matches, "meta l4proto "+protocol)
		case port.Port.StrVal != "":
			named = append(named, port)
		case port.EndPort != nil:
			matches = append(matches, fmt.Sprintf("%s dport %d-%d", protocol, port.Port.IntVal, *port.EndPort))
		default:
			matches = append(matches, fmt.Sprintf("%s dport %d", protocol, port.Port.IntVal))
		}
	}
	return matches, named
}

func containerPorts(pod *corev1.Pod, named []networkingv1.NetworkPolicyPort) []string {
	var matches []string
	for _, port := range named {
		for _, container := range pod.Spec.Containers {
			for _, open := range container.Ports {
				if open.Name == port.Port.StrVal && strings.EqualFold(string(open.Protocol), protocolOf(port)) {
					matches = append(matches, fmt.Sprintf("%s dport %d", protocolOf(port), open.ContainerPort))
				}
			}
		}
	}
	return matches
}

func protocolOf(port networkingv1.NetworkPolicyPort) string {
	if port.Protocol == nil {
		return "tcp"
	}
	return strings.ToLower(string(*port.Protocol))
}

// selects is false for a selector that can't be read, which then opens nothing; the API server accepts no such.
func selects(selector *metav1.LabelSelector, set labels.Set) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(set)
}

func join(parts ...string) string {
	var present []string
	for _, part := range parts {
		if part != "" {
			present = append(present, part)
		}
	}
	return strings.Join(present, " ")
}

func unique(addresses []string) []string {
	sort.Strings(addresses)
	kept := addresses[:0]
	for i, address := range addresses {
		if i == 0 || address != addresses[i-1] {
			kept = append(kept, address)
		}
	}
	return kept
}
