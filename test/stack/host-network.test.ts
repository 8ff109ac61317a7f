import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { BUNDLE_TARGET, detectHostNetworkSettings, findCaBundle } from "../../scripts/stack/host-network.ts";

test("a CA bundle is mounted read-only and every tool is pointed at it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "network-test-"));
  const [bundle, link] = [join(folder, "company.crt"), join(folder, "link.crt")];
  await writeFile(bundle, "certificates");
  await symlink(bundle, link);
  const settings = detectHostNetworkSettings({ PIP_CERT: link, REQUESTS_CA_BUNDLE: "/etc/passwd" });
  t.deepEqual(settings.mounts, [{ source: bundle, target: BUNDLE_TARGET }]);
  for (const name of ["PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"]) {
    t.is(settings.environment[name], BUNDLE_TARGET);
  }
  t.is(settings.environment.GIT_SSL_CAINFO, BUNDLE_TARGET);
  t.is(settings.environment.CURL_CA_BUNDLE, BUNDLE_TARGET);
  await rm(folder, { recursive: true });
});

test("the bench's own variable comes before all others", (t) => {
  const environment = { SSL_CERT_FILE: "/etc/passwd", BENCH_CA_BUNDLE: "/etc/hostname" };
  t.deepEqual(findCaBundle(environment), { path: "/etc/hostname", from: "BENCH_CA_BUNDLE" });
});

test("a bundle that is not there is named with its variable", (t) => {
  const error = t.throws(() => detectHostNetworkSettings({ BENCH_CA_BUNDLE: "/no/such.crt" }));
  t.regex(error.message, /^BENCH_CA_BUNDLE: \/no\/such\.crt is not a file\. Remedy: /);
});

test("proxies and index settings are handed on, nothing else is", (t) => {
  const given = {
    https_proxy: "http://proxy.example:3128",
    HTTP_PROXY: "proxy.example:3128",
    NO_PROXY: "localhost,.example",
    PIP_INDEX_URL: "https://index.example/simple/",
    PIP_EXTRA_INDEX_URL: "https://a.example/simple/ https://b.example/simple/@scope",
    PIP_DEFAULT_TIMEOUT: "180",
  };
  const other = { PIP_FIND_LINKS: "/opt/wheels", AWS_SECRET_ACCESS_KEY: "x", HOME: "/root", PIP_RETRIES: "" };
  const { environment } = detectHostNetworkSettings({ ...given, ...other, SSL_CERT_FILE: "/etc/hostname" });
  t.like(environment, given);
  for (const name of Object.keys(other)) t.false(name in environment);
});

const withCredentials = {
  PIP_INDEX_URL: "https://someone:hunter2@index.example/simple/",
  PIP_EXTRA_INDEX_URL: "https://a.example/simple/ https://hunter2@b.example/simple/",
  HTTPS_PROXY: "someone:hunter2@proxy.example:3128",
  GOPROXY: "https://proxy.example,https://someone:hunter2@go.example|direct",
  UV_INDEX: "inner=https://someone:hunter2@index.example/simple/",
};

for (const [name, value] of Object.entries(withCredentials)) {
  test(`credentials in ${name} are refused without being printed`, (t) => {
    const error = t.throws(() => detectHostNetworkSettings({ [name]: value }));
    t.true(error.message.startsWith(`${name} holds credentials`));
    t.false(error.message.includes("hunter2"));
  });
}

test("a proxy on the loopback interface is refused, since no sandbox can reach it", (t) => {
  for (const value of ["http://localhost:3128", "127.0.0.1:8080", "http://[::1]:3128/"]) {
    t.regex(
      t.throws(() => detectHostNetworkSettings({ https_proxy: value })).message,
      /https_proxy.*loopback/,
    );
  }
  t.notThrows(() => detectHostNetworkSettings({ https_proxy: "http://localhost.example:3128" }));
});
