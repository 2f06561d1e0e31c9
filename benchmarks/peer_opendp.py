"""Time OpenDP's discrete Laplace noise, unconstrained; run by benchmarks/peers.py.

Reads requests {"cells", "calls", "scale"} as lines of JSON, answers {"seconds"} to each:
of the clock or of the CPU, whichever are fewer.
"""

import json
import sys
import time
from importlib.metadata import version

import opendp.prelude as dp


def main():
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    print(json.dumps({"version": version("opendp")}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        mechanism = dp.m.make_laplace(*space, scale=request["scale"])
        zeros = [0] * request["cells"]
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(request["calls"]):
            mechanism(zeros)
        took = min(time.perf_counter() - began, time.process_time() - cpu)
        print(json.dumps({"seconds": took}), flush=True)


if __name__ == "__main__":
    main()
