"""Run ISDP, Algorithm 1 in blackjax: a random walk by V e, compiled by JAX; run by peers.py.

Reads requests {"name", "basis", "epsilon", "proposal", "chains", "draws", "thin"} as lines of JSON
and answers each with {"seconds", "draws"}. Chains of one name go on from where they were, so that
the first request is the burn-in; compilation is not in the seconds, which are of
the clock or of the CPU (all threads), whichever are fewer.
"""

import json
import sys
import time
from importlib.metadata import version

import blackjax
import jax
import jax.numpy as jnp


class Walk:
    """Chains side by side, `thin` steps between kept states."""

    def __init__(self, request):
        basis = jnp.array(request["basis"], dtype=jnp.int32)
        epsilon, a = request["epsilon"], request["proposal"]

        def log_weight(noise):
            return -epsilon * jnp.abs(noise).sum().astype(jnp.float32)

        def jump(key, noise):
            return basis @ double_geometric(key, a, basis.shape[1])

        walk = blackjax.additive_step_random_walk(log_weight, jump)

        def step(state, key):
            return jax.vmap(walk.step)(jax.random.split(key, request["chains"]), state)[0], None

        def keep(state, key):
            state, _ = jax.lax.scan(step, state, jax.random.split(key, request["thin"]))
            return state, state.position

        def run(state, key):
            return jax.lax.scan(keep, state, jax.random.split(key, request["draws"]))

        start = jnp.zeros((request["chains"], basis.shape[0]), dtype=jnp.int32)
        self.state = jax.vmap(walk.init)(start)
        self.key = jax.random.key(1)
        self.compiled = jax.jit(run).lower(self.state, self.key).compile()

    def run(self):
        """Run on; return kept states (chain, draw, cell) and the time it took."""
        self.key, key = jax.random.split(self.key)
        began, cpu = time.perf_counter(), time.process_time()
        self.state, kept = jax.block_until_ready(self.compiled(self.state, key))
        took = min(time.perf_counter() - began, time.process_time() - cpu)
        return kept.swapaxes(0, 1), took


def double_geometric(key, a, size):
    """Draw integers with P(k) proportional to a^|k|, from one uniform variable each."""
    uniform = jax.random.uniform(key, (size,), minval=-1.0, maxval=1.0)
    tail = jnp.maximum(jnp.abs(uniform), 1e-30) * (1 + a) / 2
    return (jnp.sign(uniform) * jnp.floor(jnp.log(tail) / jnp.log(a))).astype(jnp.int32)


def main():
    walks = {}
    print(json.dumps({"version": version("blackjax")}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if request["name"] not in walks:
            walks[request["name"]] = Walk(request)
        draws, seconds = walks[request["name"]].run()
        print(json.dumps({"seconds": seconds, "draws": draws.tolist()}), flush=True)


if __name__ == "__main__":
    main()
