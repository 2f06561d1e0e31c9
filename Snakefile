"""The workflow of this repository; its rules are in workflow/."""


include: "workflow/Snakefile"


# an included file cannot set the default target
rule default:
    default_target: True
    input:
        rules.all.input,
