import numpy as np
import pytest

from isdp import InputError, Invariants
from isdp.subspace import KNorm, Query
from isdp.subspace.accuracy import min_variance_pure
from isdp.subspace.privacy.difference_geometry import geometry
from isdp.subspace.privacy.difference_hull import chord_ends, hit_and_run, triangulate_hull
from tests.unit.subspace.workloads import WORKLOADS


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("histogram of 16", 4 * 15 * 31 / 17),
        ("ranges of 16", 2790),
        ("tree of 4 x 4", 196.941),
        ("2 x 3 margins", 20 / 3),
        ("3 x 3 margins", 50 / 3),
    ],
)
def test_errors_in_closed_form(name, error):
    assert KNorm(*WORKLOADS[name], 1.0).error == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("cells", [2, 3, 4, 6])
def test_the_image_and_the_hull_are_one_law(cells):
    query, held = Query.histogram(cells), Invariants.total(cells)
    image, hull = KNorm(query, held, 2.0), KNorm(query, held, 2.0, method="hull")
    assert hull.covariance() == pytest.approx(image.covariance(), abs=1e-12)
    assert image.error == pytest.approx((cells - 1) * (2 * cells - 1) / (cells + 1))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_images_of_other_queries_against_their_hulls(relation):
    query, held = Query.linear([[1, 2, 0], [0, 1, 1], [3, 0, 1], [1, 1, 1]]), Invariants([[0] * 4])
    image = KNorm(query, held, 1.0, relation=relation)
    hull = KNorm(query, held, 1.0, method="hull", relation=relation)
    assert image.method == "image"
    assert hull.covariance() == pytest.approx(image.covariance(), abs=1e-9)


def test_walks_stay_in_the_hull_and_reach_its_edge():
    law = KNorm(*WORKLOADS["3 x 3 margins"], 1.0, method="hit-and-run")
    walked = hit_and_run(np.random.default_rng(4), law.space, 135)
    corners = triangulate_hull(law.space).corners
    normals = np.linalg.solve(corners, np.ones((len(corners), law.dimension, 1)))[..., 0]
    gauge = (walked @ normals.T).max(axis=1)  # largest over the facets: the norm of the point
    assert gauge.max() <= 1 + 1e-7
    # of a line's part inside a symmetric hull at least a tenth has a gauge above 0.9, so that no
    # step ends there once in 0.9^-135, or 1.5 million
    assert gauge.max() > 0.9


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_walk_ends_where_the_hull_does(relation):
    space = geometry(Query.histogram(6), Invariants.margins((2, 3)), relation)
    cut = triangulate_hull(space)
    normals = np.linalg.solve(cut.corners, np.ones((len(cut.volumes), space.rank, 1)))[..., 0]
    rng = np.random.default_rng(6)
    for way in rng.standard_normal((10, space.rank)):
        at = cut.draw_uniform(rng, 1)[0]
        room, towards = 1 - normals @ at, normals @ way
        near = (room[towards < 0] / -towards[towards < 0]).min()
        far = (room[towards > 0] / towards[towards > 0]).min()
        assert chord_ends(space, at, way) == pytest.approx((near, far))


def test_one_dimension_is_laplace_noise():
    query, held = WORKLOADS["2 x 2 margins"]
    law = KNorm(query, held, 1.0)
    assert law.dimension == 1
    assert law.error == pytest.approx(2)  # 2 / epsilon^2 times the length 1 of the longest step
    assert law.error >= min_variance_pure(1.0) * 1


def test_estimates_want_whole_batches():
    law = KNorm(*WORKLOADS["2 x 3 margins"], 1.0)
    with pytest.raises(InputError, match="multiple"):
        law.estimated_error(np.random.default_rng(1), 30)
