"""What coupled pairs tell of a chain: never less than the runs allow, and found once a law."""

import json

import pytest

from isdp import GeneralizedLaplace, InputError, Invariants
from isdp.mcmc import paired_coupling, paired_diagnosis
from isdp.mcmc.coupling import tv_bound
from isdp.mcmc.paired_coupling import paired_meeting_times
from isdp.mcmc.paired_diagnosis import Diagnosis, diagnose, diagnosis_of, work_of
from isdp.mcmc.paired_rows import PairedRows


def chain(shape=(3, 4), epsilon=0.5):
    return PairedRows(Invariants.margins(shape), GeneralizedLaplace(epsilon))


@pytest.fixture(scope="module")
def found_and_its_runs():
    runs = []

    def noted(*arguments, **others):
        runs.append(paired_meeting_times(*arguments, **others))
        return runs[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired_diagnosis, "paired_meeting_times", noted)
        return diagnose(chain()), runs[-1]


@pytest.fixture
def found(found_and_its_runs):
    return found_and_its_runs[0]


def test_the_bound_is_that_of_the_runs_and_never_below_ten_over_them(found_and_its_runs):
    found, times = found_and_its_runs
    assert found.runs == len(times.tau) == 200
    assert found.lag == times.lag
    assert found.longest == times.tau.max() - found.lag
    assert found.sweeps == 2 * max(found.longest, found.lag)
    high = tv_bound(times, [found.sweeps])["high"].iloc[0]
    assert found.bound == max(high, 10 / 200) == 0.05


def test_fewer_runs_say_less_and_equal_roots_the_same(found, monkeypatch):
    caps, runs = [], []

    def noted(*arguments, cap, **others):
        caps.append(cap)
        runs.append(paired_meeting_times(*arguments, cap=cap, **others))
        return runs[-1]

    monkeypatch.setattr(paired_diagnosis, "paired_meeting_times", noted)
    usual = 2 * work_of(chain()) * 40
    fewer = diagnose(chain(), work=usual * 20)
    assert 20 <= fewer.runs < 200
    assert fewer.bound >= 10 / fewer.runs
    assert caps[1] == 20 * fewer.lag
    assert diagnose(chain(), work=usual * 20) == fewer
    for first, second in zip(runs[:2], runs[2:], strict=True):
        assert (first.tau == second.tau).all()
    diagnose(chain(), root=1, work=usual * 20)
    for first, other in zip(runs[:2], runs[4:], strict=True):
        assert first.tau.tolist() != other.tau.tolist()


def test_pairs_that_do_not_meet_give_no_diagnosis(monkeypatch):
    with pytest.raises(InputError, match="20 pairs would take some"):
        diagnose(chain(), work=2 * work_of(chain()) * 10)
    monkeypatch.setattr(paired_coupling, "coupled_sweep", lambda *arguments: False)
    with pytest.raises(InputError, match="did not meet within 40 sweeps"):
        diagnose(chain(), work=1)


def test_it_is_found_once_a_law(tmp_path, monkeypatch, found):
    calls = []

    def counted(one):
        calls.append(one)
        return found

    monkeypatch.setattr(paired_diagnosis, "diagnose", counted)
    monkeypatch.setattr(paired_diagnosis, "FOLDER", tmp_path / "kept")
    assert diagnosis_of(chain()) == diagnosis_of(chain()) == found
    assert len(calls) == 1
    (file,) = (tmp_path / "kept").iterdir()
    assert Diagnosis(**json.loads(file.read_text())) == found
    diagnosis_of(chain((4, 3)))  # the same table, turned
    assert len(calls) == 1
    diagnosis_of(chain((3, 5)))
    diagnosis_of(chain(epsilon=0.51))
    assert len(calls) == 3
    for broken in ("{", "[]", '{"runs": 3}'):
        file.write_text(broken)
        assert diagnosis_of(chain()) == found
        assert Diagnosis(**json.loads(file.read_text())) == found


def test_a_folder_that_cannot_be_written_is_no_hindrance(tmp_path, monkeypatch, found):
    monkeypatch.setattr(paired_diagnosis, "diagnose", lambda one: found)
    (tmp_path / "file").write_text("")
    assert diagnosis_of(chain(), tmp_path / "file" / "below") == found
    monkeypatch.setenv("HOME", str(tmp_path))
    assert diagnosis_of(chain()) == found
    assert len(list((tmp_path / ".cache" / "isdp" / "diagnoses").iterdir())) == 1
