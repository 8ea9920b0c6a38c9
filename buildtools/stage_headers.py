"""Lay out the headers, Cython's and C's, as the package that they describe: called when a build is configured, and before each.

`cimport gradspec.core.node` and `#include "gradspec/core/provenance.h"` are resolved by folder, and the folders of the sources
are named otherwise.  Links keep the build aware of changes; where the system has none, the headers are copied.  What is laid
out already is left alone.
"""

import os
import shutil
import sys
from pathlib import Path

SUFFIXES = (".pxd", ".h")
source, stage = Path(sys.argv[1]), Path(sys.argv[2])
wanted = {
    stage / package / header.relative_to(source / folder): header
    for folder, package in (("runtime", "gradspec"), ("library", "gradspec"), ("generated", "gradspec/generated"))
    for header in (source / folder).rglob("*")
    if header.suffix in SUFFIXES
}
found = {place: place.readlink() if place.is_symlink() else None for place in stage.rglob("*") if place.suffix in SUFFIXES}
if found != wanted:
    shutil.rmtree(stage, ignore_errors=True)
    for place, header in wanted.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.symlink(header, place)
        except OSError:
            shutil.copy2(header, place)
