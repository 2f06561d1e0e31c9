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


# the wing's tables and figures, by name, with what each shows
SUBSPACE_ERRORS = {
    "workloads": "Workloads",
    "errors": "Errors and lower bounds",
    "formulas": "Errors beside the formulas",
    "frameworks": "Extending against projecting",
    "near_optimal": "The noise of Theorem 3.11",
}
SUBSPACE_GUARANTEES = {
    "constant": "The constant of Lemma 3.4",
    "failing": "Where the constant fails",
    "losses": "Exact pure losses",
    "attained": "Losses by distance",
    "profiles": "Privacy profiles",
    "checks": "Propositions checked",
}
SUBSPACE_EQUAL = {
    "equal_privacy": "Errors in both currencies",
    "orders": "Orders in both currencies",
}
SUBSPACE_CAMPUS = {
    "campus": "What the printed numbers may be",
    "campus_laws": "Exact laws of two readings",
    "campus_constraints": "Constraints",
    "campus_integer": "Integer noise",
}
SUBSPACE_FIGURES = {
    "errors": "Errors by workload",
    "constant": "Where Lemma 3.4 holds",
    "losses": "What Laplace noise guarantees",
    "campus": "Readings of the campus example",
    "equal_privacy": "Equal privacy in both currencies",
    "counties": "Ten runs (SDP Fig 1, right)",
    "states": "Noise and DAS errors by state",
}


include: "functions/subspace.smk"


rule derive_subspace:
    output:
        **subspace_tables("Errors", SUBSPACE_ERRORS),
        **subspace_tables("Guarantees", SUBSPACE_GUARANTEES),
        **subspace_tables("Equal privacy", SUBSPACE_EQUAL),
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
        library=library("subspace/derive_subspace"),
        seed=config["seed"],
    message:
        "Errors, guarantees and checks of subspace mechanisms"
    script:
        "../scripts/subspace/derive_subspace.py"


rule simulate_subspace:
    input:
        counties=rules.fetch_demonstration_data.output.counties,
        states=rules.select_states.output.states,
    output:
        **subspace_tables("Campus", SUBSPACE_CAMPUS),
        **subspace_tables("Counties", {"counties": "Noise by state"}),
        boxes="results/figures/subspace_counties.csv",
        speed="results/benchmarks/subspace_campus_integer.csv",
    log:
        logs("simulate_subspace"),
    benchmark:
        benchmarks("simulate_subspace")
    conda:
        ENVIRONMENT
    resources:
        mem_mb=600,
    params:
        library=library("subspace/simulate_subspace"),
        seed=config["seed"],
        epsilon=SUBSPACE["epsilon"],
        campus=CAMPUS,
        counties=SUBSPACE["counties"],
    message:
        "Both examples: the campus, read in every way, and the counties"
    script:
        "../scripts/subspace/simulate_subspace.py"


rule plot_subspace:
    input:
        errors=rules.derive_subspace.output.errors_csv,
        constant=rules.derive_subspace.output.constant_csv,
        failing=rules.derive_subspace.output.failing_csv,
        attained=rules.derive_subspace.output.attained_csv,
        profiles=rules.derive_subspace.output.profiles_csv,
        equal_privacy=rules.derive_subspace.output.equal_privacy_csv,
        readings=rules.simulate_subspace.output.campus_csv,
        counties=rules.simulate_subspace.output.counties_csv,
        boxes=rules.simulate_subspace.output.boxes,
        provenance=rules.fetch_demonstration_data.output.provenance,
    output:
        **subspace_figures(),
    log:
        logs("plot_subspace"),
    benchmark:
        benchmarks("plot_subspace")
    conda:
        ENVIRONMENT
    params:
        library=library("subspace/plot_subspace"),
        epsilon=SUBSPACE["epsilon"],
        delta=SUBSPACE["delta"],
        state=SUBSPACE["counties"]["state"],
        workloads={name: in_words(entry) for name, entry in SUBSPACE["workloads"].items()},
    message:
        "Figures of subspace privacy"
    script:
        "../scripts/subspace/plot_subspace.py"


SENT |= {"derive_subspace", "simulate_subspace"}
