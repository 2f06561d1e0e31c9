"""Log the workflow's jobs, and end a job with one line if its input is wrong."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isdp.errors import InputError


@contextmanager
def job_log(path) -> Iterator[logging.Logger]:
    """Log a job to the file `path`.

    An InputError ends the process with its message on standard error. Any other exception is logged
    with its traceback and raised again.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path,
        filemode="w",
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        force=True,
    )
    logging.captureWarnings(True)
    logger = logging.getLogger("isdp")
    try:
        yield logger
    except InputError as error:
        logger.error("%s", error)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        logger.exception("the job failed")
        raise
