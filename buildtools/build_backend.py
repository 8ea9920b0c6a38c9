"""The build backend: meson-python, and metadata that waits for no compiler.

meson-python leaves out the hooks for metadata, for which pip then builds the whole wheel without a sign of life.  Here they are;
everything else is its own.
"""

import tomllib
from pathlib import Path

from mesonpy import (  # noqa: F401 (the hooks that pip looks for)
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Write the metadata that the wheel will have; returns the name of its folder."""
    from pyproject_metadata import StandardMetadata

    project = Path(__file__).parents[1]
    metadata = StandardMetadata.from_pyproject(tomllib.loads((project / "pyproject.toml").read_text()), project)
    name = f"{metadata.name.replace('-', '_')}-{metadata.version}.dist-info"
    folder = Path(metadata_directory) / name
    folder.mkdir()
    (folder / "METADATA").write_bytes(bytes(metadata.as_rfc822()))
    return name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
