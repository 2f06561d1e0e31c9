"""The data package and the registry record of each kind of release, against their formats."""

import json
import re

import pandas as pd
import pytest
import yaml

from isdp.cli import main
from isdp.io.files import sha256_of
from isdp.io.registry_record import registry_record
from tests import ROOT

EXAMPLE = ROOT / "docs/example"
PRIVATIZE = "privatize {0}/ages.csv --invariants {0}/ages.yaml --no-picture"
COMMANDS = {
    "Laplace": f"{PRIVATIZE} --epsilon 1/3",
    "Gaussian": f"{PRIVATIZE} --rho 1/9",
    "levels": f"{PRIVATIZE} --epsilon 1 --levels county,sex --nonnegative",
    "topdown": "topdown {0}/ages.csv --levels county --epsilon 1/3 --held county",
    "swap": "swap {0}/people.csv --match state,size --swap county --carry tract --rate 0.1",
}
WHOLE_NUMBERS = {"noisy.count", "nonnegative.count", "released.count", "totals.total",
                 "margins.limit_95", "measurements.measured"}  # fmt: skip
# the fields of the registry: a type, the allowed values, a list or a mapping
TEXT, NUMBER = str, float
RECORD = {
    "url_slug": TEXT,
    "status": {"Draft"},
    "tier": {1, 2, 3},
    "deployment": {
        "basic": {
            "name": TEXT,
            "data_curators": [{"data_curator_name": TEXT, "data_curator_type": TEXT}],
            "intended_use": TEXT,
            "data_product_type": {"Summary statistics", "Dataset", "Synthetic data"},
            "data_product_region": TEXT,
            "description": TEXT,
            "publication_date": TEXT,
        },
        "dp_variant": {
            "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP"},
            "data_domain": TEXT,
            "unprotected_quantities": TEXT,
        },
        "privacy_loss": {
            "privacy_unit": TEXT,
            "privacy_unit_details": TEXT,
            "privacy_parameters": {"epsilon?": NUMBER, "rho?": NUMBER, "delta?": NUMBER},
            "privacy_parameters_details": TEXT,
        },
        "deployment_model": {
            "model_name": {"Central"},
            "actors": TEXT,
            "access_type": {"Non-interactive"},
        },
        "accounting": {"post_processing": TEXT, "composition": TEXT},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": TEXT,
            "mechanisms": TEXT,
            "justification": TEXT,
        },
        "administrative": {"registry_authors": [TEXT]},
    },
}


@pytest.fixture(scope="module", params=COMMANDS)
def release(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "out"
    arguments = COMMANDS[request.param].format(EXAMPLE).split()
    assert main([*arguments, "--out", str(out)]) == 0
    return request.param, out


def differences(value, form, place=""):
    """The places where a value differs from its form."""
    if isinstance(form, dict):
        allowed = {name.removesuffix("?"): part for name, part in form.items()}
        required = {name for name in form if not name.endswith("?")}
        if not required <= set(value) <= set(allowed):
            return [f"{place}: {sorted(set(value) ^ set(allowed))}"]
        return [
            each
            for name in value
            for each in differences(value[name], allowed[name], f"{place}/{name}")
        ]
    if isinstance(form, list):
        return [each for one in value for each in differences(one, form[0], place)] or (
            [] if value else [f"{place} is empty"]
        )
    fits = value in form if isinstance(form, set) else type(value) is form
    return [] if fits and value != "" else [f"{place}: {value!r}"]


def test_the_registry_record_has_the_fields_of_the_registry(release):
    text = (release[1] / "registry.yaml").read_text()
    assert text.startswith("# ")
    record = yaml.safe_load(text)
    assert differences(record, RECORD) == []
    assert differences(record | {"tier": 4}, RECORD) == ["/tier: 4"]
    assert differences(record | {"extra": 4}, RECORD)


def test_the_registry_record_has_the_loss_and_the_totals_of_the_release(release):
    kind, out = release
    record = yaml.safe_load((out / "registry.yaml").read_text())["deployment"]
    loss = record["privacy_loss"]["privacy_parameters"]
    certificate = json.loads((out / "certificate.json").read_text())
    variant = record["dp_variant"]["variant_name"]
    if kind == "Gaussian":
        law = certificate["mechanism"]
        assert 1 / 9 <= loss["rho"] < 1 / 9 + 1e-5
        assert loss["epsilon"] == float(law["epsilon_per_person_at_delta"])
        assert (loss["delta"], variant) == (1e-10, "Zero-concentrated DP")
    else:
        exact = {"levels": 1, "swap": float(certificate.get("privacy", {}).get(
            "epsilon_between_nearest", 0))}.get(kind, 1 / 3)  # fmt: skip
        assert set(loss) == {"epsilon"}
        assert exact <= loss["epsilon"] < exact + 1e-5
        assert variant == "Pure DP"
    unprotected = record["dp_variant"]["unprotected_quantities"]
    held = {"topdown": "The total of each county.", "swap": "16 numbers of records by state, size"}
    assert held.get(kind, "totals by county: 2 exact totals") in unprotected
    assert "negative" not in unprotected


def test_the_data_package_describes_each_table(release):
    _, out = release
    package = json.loads((out / "datapackage.json").read_text())
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert "licenses" not in package
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", package["created"])
    paths = {one["path"] for one in package["resources"]}
    assert paths == {path.name for path in out.glob("*.csv")}
    for one in package["resources"]:
        assert re.fullmatch(r"[a-z0-9._-]+", one["name"])
        assert (one["type"], one["format"], one["encoding"]) == ("table", "csv", "utf-8")
        assert one["hash"] == f"sha256:{sha256_of(out / one['path'])}"
        texts = pd.read_csv(out / one["path"], dtype=str, keep_default_na=False, na_values=[""])
        fields = {field["name"]: field["type"] for field in one["schema"]["fields"]}
        assert list(fields) == list(texts)
        for name, kind in fields.items():
            values = texts[name].dropna()
            assert kind == "integer" or f"{one['name']}.{name}" not in WHOLE_NUMBERS
            if kind == "integer":
                assert values.str.fullmatch(r"-?\d+").all(), name
            elif kind == "number":
                values.astype(float)
            else:
                assert kind == "string"
        key = one["schema"].get("primaryKey", [])
        if key:
            assert not texts.duplicated(key).any()
            assert texts[key].notna().all(axis=None)
    names = {one["name"]: one["schema"].get("primaryKey") for one in package["resources"]}
    for name in names.keys() & {"noisy", "released", "totals", "measurements"}:
        assert names[name]


def test_an_experiment_is_marked_and_has_no_record(tmp_path):
    arguments = f"{COMMANDS['Laplace']} --seed 1".format(EXAMPLE).split()
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    package = json.loads((tmp_path / "out/datapackage.json").read_text())
    assert package["title"].startswith("NOT FOR RELEASE")
    assert not (tmp_path / "out/registry.yaml").exists()


def test_without_a_loss_per_person_the_record_gives_none(release):
    kind, out = release
    if kind in ("Laplace", "Gaussian"):
        certificate = json.loads((out / "certificate.json").read_text())
        certificate["mechanism"] |= {"units_per_person": None, "why_not_per_person": "a reason"}
        certificate["mechanism"].pop("epsilon_per_person_at_delta", None)
        record = registry_record(certificate)["deployment"]["privacy_loss"]
        assert record["privacy_parameters"] == {}
        assert "per unit" in record["privacy_parameters_details"]
