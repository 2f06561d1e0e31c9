"""Jobs of a finished run, run again in this process: with inputs or settings that are changed."""

import logging
import os
import pickle
import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from isdp.io.draws import Draws, read_draws, write_draws
from reproduction.jobs import figures
from reproduction.jobs.tables import read_csv

FORMATS = {
    ".csv": (read_csv, lambda file, table: table.convert_dtypes().to_csv(file, index=False)),
    ".nc": (read_draws, write_draws),
}


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
            for kept in (self.given.input, self.given.output)
            for named in [list(kept.items()) or list(enumerate(kept))]
        )


class Replay:
    """A copy of a finished run, in which jobs run again and leave the files as they were."""

    def __init__(self, finished, folder, patch):
        self.finished, self.folder = finished, folder
        shutil.copytree(finished, folder, symlinks=True)
        self.drawn = {}
        patch.setattr(figures, "save_figures", lambda drawn, _: self.drawn.update(drawn))

    def __call__(self, job, change=None, params=None):
        """Run a job; give its figures, tables and draws by the names of its outputs.

        `change` gives another table or other draws, or none, for each file that the job reads, from
        the name of the input and what is in the file.
        """
        names = ("input", "output", "wildcards", "log", "config", "scriptdir")
        given = SimpleNamespace(**{name: getattr(job.given, name) for name in names})
        given.params = job.params if params is None else Settings(params)
        changed = []
        self.drawn.clear()
        here = Path.cwd()
        os.chdir(self.folder)
        for name, files in job.inputs.items():
            for file in files if change else ():
                read, write = FORMATS.get(Path(file).suffix, (None, None))
                if read and (made := change(name, read(file))) is not None:
                    changed.append(file)
                    write(file, made)
        try:
            runpy.run_path(str(job.script), {"snakemake": given})
            made = {name: files[0] for name, files in job.outputs.items() if files}
            found = {
                name: FORMATS[Path(file).suffix][0](file)
                for name, file in made.items()
                if Path(file).suffix in FORMATS
            }
            return self.drawn | found
        finally:
            logging.captureWarnings(False)
            for file in (*changed, *(file for files in job.outputs.values() for file in files)):
                if not Path(file).is_absolute():
                    shutil.copy2(self.finished / file, file)
            os.chdir(here)


def content(made):
    """All that a figure, a table or draws hold, to be compared."""
    if isinstance(made, pd.DataFrame):
        return made.to_csv()
    if isinstance(made, Draws):
        return str((made.noise.tolist(), made.settings))
    return str([shown_in(axis) for axis in made.axes] + [made.get_suptitle()])


def shown_in(axis):
    """Data and words of the artists of a panel."""
    lines = [line.get_xydata().tolist() for line in axis.get_lines()]
    points = [each.get_offsets().tolist() for each in axis.collections]
    paths = [path.vertices.tolist() for each in axis.collections for path in each.get_paths()]
    boxes = [each.get_path().vertices.tolist() for each in axis.patches]
    boxes += [each.get_transform().transform((0, 1)).tolist() for each in axis.patches]
    images = [each.get_array().tolist() for each in axis.images]
    legend = axis.get_legend()
    texts = [*axis.texts, *(legend.get_texts() if legend else ()), *axis.get_xticklabels()]
    words = [text.get_text() for text in (*texts, *axis.get_yticklabels())]
    words += [axis.get_title(loc="left"), axis.get_xlabel(), axis.get_ylabel()]
    return lines, points, paths, boxes, images, words
