import matplotlib as mpl

from isdp.plots.style import panels
from reproduction.jobs.figures import save_figures


def test_each_figure_is_saved_twice_under_its_name(tmp_path):
    names = ("one", "two")
    files = {f"{n}{end}": tmp_path / f"{n}.{end or 'svg'}" for n in names for end in ("", "_png")}
    save_figures(
        {name: panels(1, 1, (width, 1))[0] for name, width in zip(names, (2, 3), strict=True)},
        files,
    )
    widths = [mpl.image.imread(files[f"{name}_png"]).shape[1] for name in names]
    assert widths[1] == 1.5 * widths[0]
    assert "<svg" in files["one"].read_text()
