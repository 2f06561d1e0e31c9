import numpy as np
from PIL import Image

from isdp.plots.style import panels
from reproduction.jobs.figures import DPI, THUMBNAIL_SIZE, save_figures


def drawn(words):
    figure, axes = panels(1, 2, (8, 3))
    for axis in axes[0]:
        axis.plot([0, 1], [0, 1], label=words)
        axis.set(title=words, xlabel=words, ylabel=words)
        axis.text(0.5, 0.5, words)
        axis.legend()
    figure.suptitle(words)
    return figure


def test_a_thumbnail_shows_the_first_panel_without_words(tmp_path):
    files = {}
    for name, words in (("few", "a"), ("many", "a title as long as a sentence")):
        files |= {name: tmp_path / f"{name}.svg", f"{name}_png": tmp_path / f"{name}.png"}
        files[f"{name}_thumbnail"] = tmp_path / f"{name}_small.png"
        save_figures({name: drawn(words)}, files)
    few, many = (np.asarray(Image.open(files[f"{name}_thumbnail"])) for name in ("few", "many"))
    assert few.shape[:2] == tuple(round(side * DPI) for side in reversed(THUMBNAIL_SIZE))
    assert (few == many).all()
    assert (files["few_png"].read_bytes()) != (files["many_png"].read_bytes())
