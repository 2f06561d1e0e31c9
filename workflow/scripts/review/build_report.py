"""Have Snakemake build its report of everything that the workflow has made."""

import subprocess
import sys

from reproduction.running.jobs import job_log
from isdp.io.files import whole

with job_log(snakemake.log[0]) as log, whole(snakemake.output.report) as temporary:
    temporary.unlink()
    command = [sys.executable, "-m", "reproduction.review.report", "--nolock", "everything"]
    command += ["--snakefile", snakemake.params.snakefile]
    command += ["--configfile", snakemake.input.config, "--report", str(temporary)]
    command += ["--report-stylesheet", snakemake.input.stylesheet]
    done = subprocess.run(command, capture_output=True, text=True)
    log.info("%s", done.stdout + done.stderr)
    if done.returncode or "(ERROR/" in done.stderr or "(WARNING/" in done.stderr:
        raise RuntimeError(f"the report was not built:\n{done.stderr}")
