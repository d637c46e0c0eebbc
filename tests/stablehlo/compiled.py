"""StableHLO text compiled and run by XLA: what a module computes, said by another implementation."""

from __future__ import annotations

from typing import Any

import numpy as np


def run_compiled(text: str, *arrays: Any) -> list[Any] | None:
    """The results of a module's main function on float64 arrays; None where it does not parse or compile."""
    import jax
    from jax._src import xla_bridge
    from jaxlib import xla_client

    client = xla_bridge.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    with jax.enable_x64(True):
        given = [jax.device_put(np.asarray(array, dtype=np.float64), client.local_devices()[0]) for array in arrays]
        try:
            program = client.compile_and_load(text, devices, xla_client.CompileOptions())
            return [np.asarray(result) for result in program.execute(given)]
        except (jax.errors.JaxRuntimeError, ValueError):
            return None
