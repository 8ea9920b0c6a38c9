"""The tests of a module: those of its name, and what the table says.

Owns the table of modules that are tested under another name.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDERS = ("tests/runtime", "tests/kernels", "tests/codegen", "tests")
_ELSEWHERE = {
    "codegen/spec/documents.py": ["tests/codegen/test_reader.py"],
    "codegen/spec/elementwise.py": ["tests/codegen/test_programs.py"],
    "codegen/spec/entry.py": ["tests/codegen/test_reader.py"],
    "codegen/spec/limits.py": ["tests/codegen/test_hostile.py"],
    "codegen/spec/model.py": ["tests/codegen/test_reader.py", "tests/codegen/test_signature.py"],
    "codegen/spec/nodes.py": ["tests/codegen/test_reader.py"],
    "codegen/spec/numpy_names.py": ["tests/codegen/test_namespaces.py", "tests/codegen/test_numpy_table.py"],
    "codegen/spec/numpy_signatures.py": ["tests/codegen/test_numpy_table.py"],
    "codegen/verify/batched.py": ["tests/codegen/test_check.py"],
    "codegen/verify/case.py": ["tests/codegen/test_evaluate.py", "tests/codegen/test_check.py"],
    "codegen/verify/check.py": ["tests/codegen/test_stated.py", "tests/codegen/test_coverage.py"],
    "codegen/verify/proofs.py": ["tests/codegen/test_prove.py"],
    "codegen/verify/reference.py": ["tests/codegen/test_stated.py"],
    "codegen/verify/tried.py": ["tests/codegen/test_coverage.py"],
    "runtime/autograd/agreement.py": ["tests/runtime/test_gradcheck.py"],
    "runtime/autograd/differences.py": ["tests/runtime/test_gradcheck.py"],
    "runtime/autograd/nest.py": ["tests/runtime/test_functional.py"],
    "runtime/autograd/passes.py": ["tests/runtime/test_functional.py", "tests/runtime/test_batched_pass.py"],
    "runtime/core/arguments.pyx": ["tests/runtime/test_operand.py", "tests/runtime/test_numpy_protocol.py"],
    "runtime/core/version.pyx": ["tests/runtime/test_view.py", "tests/runtime/test_inplace.py"],
    "runtime/engine/engine_hooks.pyx": ["tests/runtime/test_hooks.py"],
    "runtime/engine/function_node.pyx": ["tests/runtime/test_function.py"],
    "runtime/engine/graph_task.pyx": ["tests/runtime/test_engine.py"],
    "runtime/engine/put_off.pyx": ["tests/runtime/test_fusion.py"],
    "runtime/engine/ready_queue.pyx": ["tests/runtime/test_engine.py"],
    "runtime/saved/saved_tensors_hooks.pyx": ["tests/runtime/test_saved_variable.py"],
}


def tests_of(module: Path) -> list[str]:
    """Paths of test files, as pytest takes them."""
    name = module.relative_to(ROOT).as_posix()
    stem = module.stem if module.stem != "__init__" else module.parent.name
    stems = dict.fromkeys([stem, stem.removesuffix("_loops"), stem.strip("_")])
    named = [f"{folder}/test_{s}.py" for folder in _FOLDERS for s in stems if (ROOT / folder / f"test_{s}.py").is_file()]
    return list(dict.fromkeys([*named, *_ELSEWHERE.get(name, [])]))
