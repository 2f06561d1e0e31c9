"""Subspace differential privacy: mechanisms, guarantees, the campus and the counties (SDP)."""

from reproduction.subspace.settings import in_words

SUBSPACE = config["subspace"]
CAMPUS = SUBSPACE["campus"]

config["words"]["subspace"] = (
    "epsilon = {epsilon:g} for one replaced record, delta = {delta:g} for Gaussian noise. All noise "
    "is floating point, for study and not for release. Seed {seed}."
).format(seed=config["seed"], **SUBSPACE)
config["words"]["workloads"] = "Workloads: {}.".format(
    "; ".join(f"{name}, {in_words(entry)}" for name, entry in SUBSPACE["workloads"].items())
)
config["words"]["campus"] = (
    "{buildings} buildings, {groups} groups, {hours} hours; noise of variance 1 in every cell before "
    "it is projected; {repetitions} repetitions in an experiment. Seed {seed}."
).format(seed=config["seed"], **CAMPUS)
config["words"]["subspace_counties"] = (
    "epsilon = {epsilon:g}; {counties[runs]} runs; b is the scale of the Laplace noise before it is "
    "projected onto the counts of equal total. Seed {seed}."
).format(seed=config["seed"], **SUBSPACE)


include: "functions/subspace.smk"


rule derive_subspace:
    input:
        library=library("subspace/derive_subspace"),
    output:
        **subspace_table("workloads", "Workloads", "Errors"),
        **subspace_table("errors", "Errors and lower bounds", "Errors"),
        **subspace_table("formulas", "Errors beside the formulas", "Errors"),
        **subspace_table("frameworks", "Extending against projecting", "Errors"),
        **subspace_table("near_optimal", "The noise of Theorem 3.11", "Errors"),
        **subspace_table("constant", "The constant of Lemma 3.4", "Guarantees"),
        **subspace_table("failing", "Where the constant fails", "Guarantees"),
        **subspace_table("losses", "Exact pure losses", "Guarantees"),
        **subspace_table("attained", "Losses by distance", "Guarantees"),
        **subspace_table("profiles", "Privacy profiles", "Guarantees"),
        **subspace_table("equal_privacy", "Errors in both currencies", "Equal privacy"),
        **subspace_table("orders", "Orders in both currencies", "Equal privacy"),
        **subspace_table("checks", "Propositions checked", "Guarantees"),
    log:
        logs("derive_subspace"),
    benchmark:
        benchmarks("derive_subspace")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        **{
            key: SUBSPACE[key]
            for key in (
                *("epsilon", "delta", "draws", "workloads"),
                *("constant", "losses", "equal_privacy"),
            )
        },
        seed=config["seed"],
    message:
        "Errors, guarantees and checks of subspace mechanisms"
    script:
        "../scripts/subspace/derive_subspace.py"


rule simulate_campus:
    input:
        library=library("subspace/simulate_campus"),
    output:
        **table_outputs(
            "subspace_campus",
            "What the printed numbers may be",
            "Subspace privacy",
            key="readings_",
            subcategory="Campus",
        ),
        **table_outputs(
            "subspace_campus_laws",
            "Exact laws of two readings",
            "Subspace privacy",
            key="laws_",
            subcategory="Campus",
        ),
        **table_outputs(
            "subspace_campus_constraints",
            "Constraints",
            "Subspace privacy",
            key="constraints_",
            subcategory="Campus",
        ),
        **table_outputs(
            "subspace_campus_integer",
            "Integer noise",
            "Subspace privacy",
            key="integer_",
            subcategory="Campus",
        ),
        speed="results/benchmarks/subspace_campus_integer.csv",
    log:
        logs("simulate_campus"),
    benchmark:
        benchmarks("simulate_campus")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        seed=config["seed"],
        campus=CAMPUS,
    message:
        "The campus example, read in every way"
    script:
        "../scripts/subspace/simulate_campus.py"


rule simulate_subspace_counties:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
        states=rules.select_states.output.states,
        library=library("subspace/simulate_subspace_counties"),
    output:
        **table_outputs(
            "subspace_counties", "Noise by state", "Subspace privacy", subcategory="Counties"
        ),
        boxes="results/figures/subspace_counties.csv",
    log:
        logs("simulate_subspace_counties"),
    benchmark:
        benchmarks("simulate_subspace_counties")
    conda:
        ENVIRONMENT
    params:
        seed=config["seed"],
        epsilon=SUBSPACE["epsilon"],
        counties=SUBSPACE["counties"],
    message:
        "Projected Laplace noise on the counties"
    script:
        "../scripts/subspace/simulate_subspace_counties.py"


rule plot_subspace:
    input:
        errors=rules.derive_subspace.output.errors_csv,
        constant=rules.derive_subspace.output.constant_csv,
        failing=rules.derive_subspace.output.failing_csv,
        attained=rules.derive_subspace.output.attained_csv,
        profiles=rules.derive_subspace.output.profiles_csv,
        equal_privacy=rules.derive_subspace.output.equal_privacy_csv,
        readings=rules.simulate_campus.output.readings_csv,
        counties=rules.simulate_subspace_counties.output.csv,
        boxes=rules.simulate_subspace_counties.output.boxes,
        provenance=rules.fetch_demonstration_data.output.provenance,
        library=library("subspace/plot_subspace"),
    output:
        **subspace_figure("errors", "Errors by workload", "Errors"),
        **subspace_figure("constant", "Where Lemma 3.4 holds", "Guarantees"),
        **subspace_figure("losses", "What Laplace noise guarantees", "Guarantees"),
        **subspace_figure("campus", "Readings of the campus example", "Campus"),
        **subspace_figure("equal_privacy", "Equal privacy in both currencies", "Equal privacy"),
        **subspace_figure("counties", "Ten runs (SDP Fig 1, right)", "Counties"),
        **subspace_figure("states", "Noise and DAS errors by state", "Counties"),
    log:
        logs("plot_subspace"),
    benchmark:
        benchmarks("plot_subspace")
    conda:
        ENVIRONMENT
    params:
        epsilon=SUBSPACE["epsilon"],
        delta=SUBSPACE["delta"],
        state=SUBSPACE["counties"]["state"],
        workloads={name: in_words(entry) for name, entry in SUBSPACE["workloads"].items()},
    message:
        "Figures of subspace privacy"
    script:
        "../scripts/subspace/plot_subspace.py"


SENT |= {"derive_subspace", "simulate_campus"}
