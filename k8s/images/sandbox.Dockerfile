# A base for sandboxes, on any Debian or Ubuntu:
#   docker build -f k8s/images/sandbox.Dockerfile --build-arg BASE=ubuntu:22.04 -t setup-bench-sandbox:ubuntu-22.04 .
# What agents usually find on a developer's machine, and nothing of any one repository.
ARG BASE=debian:12
FROM ${BASE}
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      bash build-essential ca-certificates curl git python3 python3-dev python3-pip python3-venv tar xz-utils \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /
# The driver puts its own program in this place; this keeps a container by hand alive.
CMD ["sleep", "infinity"]
