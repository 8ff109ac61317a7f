"""Tries, from among the sandboxes, to reach what must be out of reach and what must be in reach.

DENIED and REACHED hold addresses, host:port, separated by blanks; PATIENCE is how many seconds a policy may take to be
in effect. Exit code 0 when all is as it must be.
"""

import os
import socket
import sys
import time


def connects(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=3).close()
        return True
    except OSError:
        return False


def wrong():
    return [f"{address} can be reached" for address in denied if connects(address)] + [
        f"{address} can't be reached" for address in reached if not connects(address)
    ]


denied = os.environ["DENIED"].split()
reached = os.environ["REACHED"].split()
end = time.monotonic() + float(os.environ["PATIENCE"])
found = wrong()
while found and time.monotonic() < end:
    time.sleep(1)
    found = wrong()
for line in found:
    print(f"self-test: {line}", flush=True)
if found:
    print("self-test: the cluster's network does not enforce the policies (or they allow too much, or too little)")
    sys.exit(1)
print(f"self-test: out of reach: {', '.join(denied)}; in reach: {', '.join(reached) or 'nothing was asked for'}")
