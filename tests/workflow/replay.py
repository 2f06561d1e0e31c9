"""Jobs of a finished run, run again in this process: with inputs or settings that are changed."""

import copy
import logging
import pickle
import runpy
import shutil
from pathlib import Path

from isdp.io.draws import read_draws
from reproduction.running import figures
from reproduction.running.tables import read_csv


class Settings(dict):
    """Parameters of a job, by attribute as in Snakemake."""

    __getattr__ = dict.__getitem__


class Job:
    """A job of the run: its script, what Snakemake gave to it, and the streams that it took."""

    def __init__(self, path):
        kept = pickle.loads(path.read_bytes())
        self.name, self.script = path.stem, Path(kept["script"])
        self.streams, self.given = kept["streams"], kept["given"]
        self.params = Settings(self.given.params.items())
        self.inputs, self.outputs = (
            {name: [files] if isinstance(files, str) else list(files) for name, files in named}
            for named in (self.given.input.items(), self.given.output.items())
        )


class Replay:
    """A copy of a finished run, in which jobs run again and leave the files as they were."""

    def __init__(self, finished, folder, patch):
        self.finished, self.folder = finished, folder
        shutil.copytree(finished, folder, symlinks=True)
        patch.chdir(folder)
        self.drawn = {}
        patch.setattr(figures, "save_figures", lambda drawn, _: self.drawn.update(drawn))

    def __call__(self, job, change=None, params=None):
        """Run a job; give its figures, tables and draws by the names of its outputs.

        `change` is given each csv file that the job reads, by the name of the input and its table,
        and returns another table or none.
        """
        self.drawn, changed, given = {}, [], copy.copy(job.given)
        given.params = job.params if params is None else params
        for name, files in job.inputs.items():
            for file in files if change else ():
                if file.endswith(".csv") and (table := change(name, read_csv(file))) is not None:
                    changed.append(file)
                    table.to_csv(file, index=False)
        try:
            runpy.run_path(str(job.script), {"snakemake": given})
            made = {name: files[0] for name, files in job.outputs.items() if files}
            read = {".csv": read_csv, ".nc": read_draws}
            found = {
                name: read[Path(file).suffix](file)
                for name, file in made.items()
                if Path(file).suffix in read
            }
            return self.drawn | found
        finally:
            logging.captureWarnings(False)
            for file in (*changed, *(file for files in job.outputs.values() for file in files)):
                if not Path(file).is_absolute():
                    shutil.copy2(self.finished / file, file)
