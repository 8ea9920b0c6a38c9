"""Other compilers, Pythons, processors and NumPys: what was run there, and a command that runs it again."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = Path(__file__).with_name("systems.toml")
RUNS = Path(__file__).with_name("runs.toml")
