"""A data frame in and out."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from isdp import GeneralizedGaussian, InputError
from isdp.commands.privatize.dataframe import privatize_frame
from isdp.commands.shared.request import NoiseRequest
from isdp.io.certificate import markdown

PEOPLE = pd.DataFrame(
    {
        "county": pd.Categorical(list("BBAA")),
        "sex": list("fmfm"),
        "count": np.array([14, 9, 30, 21], dtype=np.int32),
        "code": [1, 2, 3, 4],
    },
    index=[7, 3, 9, 1],
)


def test_a_frame_keeps_all_but_the_counts():
    before = PEOPLE.copy()
    released = privatize_frame(PEOPLE, count="count", totals=["county"], epsilon="1/2")
    assert PEOPLE.equals(before)
    noisy = released.frame
    assert noisy.drop(columns="count").equals(PEOPLE.drop(columns="count"))
    assert list(noisy.columns) == list(PEOPLE.columns)
    assert noisy["count"].dtype == np.int64
    sums = [each.groupby("county", observed=True)["count"].sum() for each in (PEOPLE, noisy)]
    assert sums[0].tolist() == sums[1].tolist()
    assert dict(released.totals.to_numpy().tolist()) == {"county: A": 51, "county: B": 23}
    assert released.margins["how"].eq("exact").all()
    certificate = released.certificate
    assert certificate["for_release"]
    assert certificate["mechanism"]["epsilon"] == "1/4"
    text = noisy.to_csv(index=False, lineterminator="\n").encode()
    assert certificate["output"]["sha256"] == hashlib.sha256(text).hexdigest()


def test_the_certificate_speaks_of_the_frame_and_of_its_index():
    released = privatize_frame(PEOPLE, count="count", totals=["county"], epsilon="1/4")
    text = markdown(released.certificate)
    assert "noisy.csv" not in text
    assert "index of the data frame is published unchanged" in text
    assert released.certificate["output"]["sha256"] in text


def test_noise_is_drawn_at_each_call():
    large = pd.DataFrame({"cell": range(200), "count": 50})
    first, second = (
        privatize_frame(large, count="count", total=True, epsilon=0.1) for _ in range(2)
    )
    assert not first.frame.equals(second.frame)
    assert not first.frame["count"].equals(large["count"])


def test_other_requests_and_subsets():
    request = NoiseRequest(GeneralizedGaussian(3.0), experiment=True, seed=5)
    more = {"count": "count", "subsets": {"some": {"code": [1, 2]}}, "request": request}
    first, second = privatize_frame(PEOPLE, **more), privatize_frame(PEOPLE, **more)
    assert first.frame.equals(second.frame)
    assert first.certificate["status"].startswith("NOT FOR RELEASE")
    assert first.frame["count"][:2].sum() == 23


GOOD = {"count": "count", "totals": ["county"], "epsilon": 0.5}


@pytest.mark.parametrize(
    ("df", "changes", "named"),
    [
        ([1, 2], {}, "list"),
        (PEOPLE, {"epsilon": None}, "epsilon"),
        (PEOPLE, {"epsilon": -1}, "epsilon"),
        (PEOPLE, {"count": "people"}, "'people'"),
        (PEOPLE, {"totals": ["town"]}, "'town'"),
        (PEOPLE, {"totals": []}, "total"),
        (PEOPLE, {"totals": [["county", "sex"]]}, "totals"),
        (PEOPLE, {"subsets": {"a": {"code": 9}}}, "code = '9'"),
        (PEOPLE, {"names": ["sex"]}, "'f'"),
        (PEOPLE[:0], {}, "rows"),
        *((PEOPLE.assign(count=wrong), {}, "count") for wrong in (0.5, "3", True, 10**12)),
        (PEOPLE.assign(count=[1, -2, 3, 4]), {}, "row 2 (B, m, 2): count"),
        (PEOPLE.assign(count=pd.array([1, None, 2, 3], dtype="Int64")), {}, "count"),
        *((PEOPLE.assign(sex=["f", no, "f", "m"]), {}, "row 2: sex") for no in (None, "")),
        (PEOPLE.assign(code=[1, "1", 2, 3]), {}, "code"),
        (PEOPLE.rename(columns={"code": 5}), {}, "columns"),
        (PEOPLE.set_axis(["county", "sex", "count", "sex"], axis=1), {}, "columns"),
    ],
)
def test_frames_that_are_refused(df, changes, named):
    with pytest.raises(InputError) as caught:
        privatize_frame(df, **(GOOD | changes))
    assert named in str(caught.value)
