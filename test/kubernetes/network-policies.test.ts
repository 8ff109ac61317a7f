import { NetworkingV1Api, type V1NetworkPolicySpec, type V1Pod } from "@kubernetes/client-node";
import test from "ava";
import { execInPod } from "../../activities/sandbox/kubernetes/exec.ts";
import { CONTAINER } from "../../activities/sandbox/kubernetes/names.ts";
import { eventually } from "../sandbox/subject.ts";
import { onCluster } from "../support/cluster.ts";

const [OPEN, NAMED, CLOSED] = [8080, 8081, 8082];
/** What the test cluster keeps to beyond what every network plug-in does. */
const onOwn = process.env.BENCH_TEST_KUBECONFIG ? test.serial.skip : test.serial;

/** What a driver's network switch and allow list rest on: that the cluster enforces policies at all, and all of them. */
await onCluster("network policies", ({ cluster, base }) => {
  const addresses: Record<string, string> = {};
  let service = "";
  let node = "";

  const start = async (name: string): Promise<void> => {
    const image = (await base()).location;
    const server = (port: number) => `python3 -m http.server ${port} &`;
    const pod: V1Pod = {
      metadata: { name, labels: { part: name } },
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: CONTAINER,
            image,
            imagePullPolicy: "IfNotPresent",
            command: [
              "sh",
              "-c",
              `cd /usr/share; ${[OPEN, NAMED, CLOSED].map(server).join(" ")} exec sleep 3600`,
            ],
            ports: [{ name: "named", containerPort: NAMED }],
          },
        ],
      },
    };
    await cluster.core("create pod", (api) =>
      api.createNamespacedPod({ namespace: cluster.namespace, body: pod }),
    );
    addresses[name] = await eventually(async () => {
      const read = await cluster.core("read pod", (api) =>
        api.readNamespacedPod({ namespace: cluster.namespace, name }),
      );
      node = read.status?.hostIP ?? "";
      return read.status?.phase === "Running" && read.status.podIP;
    }, 120);
  };

  /** Whether a TCP connection from the pod comes about. */
  const reaches = async (from: string, host: string, port: number): Promise<boolean> => {
    const script = `import socket,sys\ntry: socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)\nexcept OSError: sys.exit(9)`;
    const { exit, stderr } = await execInPod(
      cluster,
      from,
      ["python3", "-c", script, host, String(port)],
      null,
    );
    if (exit !== 0 && exit !== 9) throw new Error(stderr);
    return exit === 0;
  };

  const apply = (name: string, spec: V1NetworkPolicySpec) =>
    cluster.api(NetworkingV1Api, "create policy", (api) =>
      api.createNamespacedNetworkPolicy({ namespace: cluster.namespace, body: { metadata: { name }, spec } }),
    );

  const select = (part: string) => ({ matchLabels: { part } });
  const becomes = (wanted: boolean, from: string, host: string, port: number) =>
    eventually(async () => (await reaches(from, host, port)) === wanted, 30);

  test.before(async () => {
    for (const name of ["client", "server", "stranger"]) await start(name);
    const api = await cluster.core("read service", (core) =>
      core.readNamespacedService({ namespace: "default", name: "kubernetes" }),
    );
    service = api.spec?.clusterIP ?? "";
    for (const name of ["client", "stranger"])
      for (const port of [OPEN, NAMED, CLOSED]) await becomes(true, name, addresses.server ?? "", port);
  });

  test.afterEach.always(() =>
    cluster.api(NetworkingV1Api, "delete policies", (api) =>
      api.deleteCollectionNamespacedNetworkPolicy({ namespace: cluster.namespace }),
    ),
  );

  test.serial(
    "without a policy a pod reaches the API server, so that its refusal below says something",
    async (t) => {
      await becomes(true, "client", service, 443);
      t.true(await reaches("client", node, 10250));
    },
  );

  test.serial(
    "a pod that no policy opens is not reached and reaches nothing: no pod, API server or node",
    async (t) => {
      await apply("deny", { podSelector: select("client"), policyTypes: ["Ingress", "Egress"] });
      await becomes(false, "client", addresses.server ?? "", OPEN);
      t.false(await reaches("stranger", addresses.client ?? "", OPEN));
      t.false(await reaches("client", service, 443));
      t.false(await reaches("client", node, 10250));
      t.false(await reaches("client", "169.254.169.254", 80));
      t.true(await reaches("client", "127.0.0.1", OPEN));
      t.true(await reaches("stranger", addresses.server ?? "", OPEN));
    },
  );

  test.serial(
    "an allow list opens its pods, and of them its ports alone, by number, name and range",
    async (t) => {
      const server = addresses.server ?? "";
      await apply("in", {
        podSelector: select("server"),
        policyTypes: ["Ingress"],
        ingress: [{ _from: [{ podSelector: select("client") }], ports: [{ port: OPEN }, { port: "named" }] }],
      });
      await becomes(false, "stranger", server, OPEN);
      t.deepEqual(await Promise.all([OPEN, NAMED, CLOSED].map((port) => reaches("client", server, port))), [
        true,
        true,
        false,
      ]);
      await apply("out", {
        podSelector: select("client"),
        policyTypes: ["Egress"],
        egress: [{ to: [{ podSelector: select("server") }], ports: [{ port: NAMED, endPort: CLOSED }] }],
      });
      await becomes(false, "client", server, OPEN);
      t.true(await reaches("client", server, NAMED));
      t.false(await reaches("client", addresses.stranger ?? "", NAMED));
    },
  );

  test.serial("a block opens its addresses but not those that it excepts", async (t) => {
    const [server, stranger] = [addresses.server ?? "", addresses.stranger ?? ""];
    await apply("block", {
      podSelector: select("client"),
      policyTypes: ["Egress"],
      egress: [{ to: [{ ipBlock: { cidr: "0.0.0.0/0", except: [`${server}/32`] } }] }],
    });
    await becomes(false, "client", server, OPEN);
    t.true(await reaches("client", stranger, OPEN));
  });

  test.serial("a namespace is selected by its labels", async (t) => {
    const own = { matchLabels: { "kubernetes.io/metadata.name": cluster.namespace } };
    const other = { matchLabels: { "kubernetes.io/metadata.name": "default" } };
    const rule = (namespaceSelector: typeof own): V1NetworkPolicySpec => ({
      podSelector: select("server"),
      policyTypes: ["Ingress"],
      ingress: [{ _from: [{ namespaceSelector }] }],
    });
    await apply("other", rule(other));
    await becomes(false, "client", addresses.server ?? "", OPEN);
    await apply("own", rule(own));
    await becomes(true, "client", addresses.server ?? "", OPEN);
    t.pass();
  });

  test.serial(
    "a label that brings a pod under a policy, and its removal, take effect while it runs",
    async (t) => {
      await apply("cut", { podSelector: { matchLabels: { network: "off" } }, policyTypes: ["Egress"] });
      t.true(await reaches("client", addresses.server ?? "", OPEN));
      const label = (value: string | null) =>
        cluster.core("label pod", (api) =>
          api.patchNamespacedPod({
            namespace: cluster.namespace,
            name: "client",
            body: [{ op: value === null ? "remove" : "add", path: "/metadata/labels/network", value }],
          }),
        );
      await label("off");
      await becomes(false, "client", addresses.server ?? "", OPEN);
      await label(null);
      await becomes(true, "client", addresses.server ?? "", OPEN);
    },
  );

  onOwn("a policy made later ends what an open connection says, too", async (t) => {
    const script = `import socket,time
s = socket.create_connection(("${addresses.server}", ${OPEN}), 2)
s.sendall(b"GET / HTTP/1.0\\r\\n")
time.sleep(6)
s.settimeout(3)
try:
    s.sendall(b"\\r\\n")
    print("answer" if s.recv(1) else "end")
except TimeoutError: print("silence")`;
    const talks = ["client", "stranger"].map((pod) =>
      execInPod(cluster, pod, ["python3", "-c", script], null),
    );
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await apply("late", { podSelector: select("client"), policyTypes: ["Egress"] });
    const said = (await Promise.all(talks)).map(({ stdout }) => stdout.toString());
    t.deepEqual(said, ["silence\n", "answer\n"]);
  });

  onOwn("no pod speaks from an address that is not its own", async (t) => {
    const spoof = `import socket,struct,sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
body = b"spoofed"
udp = struct.pack("!HHHH", 9, 9999, 8 + len(body), 0) + body
ip = struct.pack("!BBHHHBBH4s4s", 69, 0, 20 + len(udp), 1, 0, 64, 17, 0, *map(socket.inet_aton, sys.argv[1:3]))
raw.sendto(ip + udp, (sys.argv[2], 0))`;
    const hear = `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9999)); s.settimeout(4)
print("ready", flush=True)
try: print(s.recvfrom(99)[1][0])
except TimeoutError: print("nothing")`;
    const heard = async (from: string) => {
      const listening = execInPod(cluster, "server", ["python3", "-c", hear], null);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const send = ["python3", "-c", spoof, from, addresses.server ?? ""];
      const { exit, stderr } = await execInPod(cluster, "client", send, null);
      t.is(exit, 0, stderr);
      return (await listening).stdout.toString();
    };
    const own = addresses.client ?? "";
    t.is(await heard(own), `ready\n${own}\n`);
    t.is(await heard(addresses.stranger ?? ""), "ready\nnothing\n");
    t.is(await heard("192.0.2.77"), "ready\nnothing\n");
  });

  onOwn("a pod hears nobody but itself by IPv6, which no policy speaks of", async (t) => {
    const ask = `import socket,time
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
s.settimeout(0.5)
heard = set()
own = {line.split()[0] for line in open("/proc/net/if_inet6")}
end = time.time() + 6
while time.time() < end:
    s.sendto(bytes([128, 0, 0, 0, 0, 7, 0, 1]), ("ff02::1", 0, 0, socket.if_nametoindex("eth0")))
    try:
        data, source = s.recvfrom(999)
        if data[0] == 129: heard.add(socket.inet_pton(socket.AF_INET6, source[0].split("%")[0]).hex())
    except TimeoutError: pass
print("itself" if heard & own else "nobody", sorted(heard - own))`;
    t.is((await execInPod(cluster, "client", ["python3", "-c", ask], null)).stdout.toString(), "itself []\n");
  });
});
