"""Ways to take one vector among the nearest, apart so that figures name them without the solver."""

CHOICES = {
    "solver": "the vertex that HiGHS returns: one county, always the same, takes the correction",
    "random": "a random vertex: one county, another in each release, takes the correction",
    "even": "the correction is shared out evenly",
}
