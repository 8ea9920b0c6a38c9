"""Lay out the Cython headers as the package that they describe: called by meson.build when a build is configured.

`cimport gradspec.node` is resolved by folder, and the folders of the sources are named otherwise.  Links keep the build
aware of changes; where the system has none, the headers are copied.
"""

import os
import shutil
import sys
from pathlib import Path

source, stage = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(stage, ignore_errors=True)
for folder, package in (("runtime", "gradspec"), ("generated", "gradspec/generated")):
    for header in [*(source / folder).rglob("*.pxd")]:
        place = stage / package / header.relative_to(source / folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.symlink(header, place)
        except OSError:
            shutil.copy2(header, place)
