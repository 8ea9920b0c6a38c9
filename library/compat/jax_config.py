"""JAX's `config.update`: accepts the settings that gradspec has anyway, and says what to write for the others."""

from typing import Any

import gradspec as gs

# Setting -> the values that change nothing here, and the advice for another value.
_SETTINGS: dict[str, tuple[tuple[Any, ...], str]] = {
    "jax_enable_x64": ((True,), "gs.set_default_dtype(gs.float32)"),
    "jax_platform_name": (("cpu",), "nothing: every tensor is in memory"),
    "jax_platforms": (("cpu",), "nothing: every tensor is in memory"),
    "jax_debug_nans": ((False,), "gs.autograd.set_detect_anomaly(True)"),
    "jax_disable_jit": ((False,), "the functions without gs.jit"),
}


def update(name: str, value: Any) -> None:
    """Accept a setting of JAX whose value is gradspec's own.

    Parameters
    ----------
    name : str
        For example "jax_enable_x64": the default dtype is float64.
    value : object

    Raises
    ------
    ValueError
        If the setting is unknown, or gradspec behaves differently.
    """
    accepted, instead = _SETTINGS.get(name, ((), "nothing: gradspec has no such setting"))
    if value not in accepted or (name == "jax_enable_x64" and gs.get_default_dtype() != gs.float64):
        instead = "gs.set_default_dtype(gs.float64)" if name == "jax_enable_x64" and value else instead
        raise ValueError(f"config.update: {name!r} cannot become {value!r}; write {instead}")
