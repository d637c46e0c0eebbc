"""Run exported programs in an interpreter of their own, which must not have loaded vjproof.

The argument is a JSON file: a list of {"runtime", "file", "inputs", "weights", "output"}; inputs are a .npz file with
the arrays in the order of the program's arguments, weights a safetensors file or null.
"""

import json
import sys
from pathlib import Path

import numpy as np


def run_jax(file, inputs, weights):
    import jax.export

    exported = jax.export.deserialize(bytearray(Path(file).read_bytes()))
    images, *rest = inputs.values()
    return exported.call(images, *([] if weights is None else [weights]), *rest)


def run_onnxruntime(file, inputs, weights):
    import onnxruntime

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return session.run(None, {**inputs, **(weights or {})})[0]


def run_iree(file, inputs, weights):
    import iree.compiler
    import iree.runtime

    generic = ["--iree-llvmcpu-target-cpu=generic"]
    compiled = iree.compiler.compile_file(
        file, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=generic
    )
    module = iree.runtime.load_vm_flatbuffer(compiled, driver="local-sync")
    images, *rest = inputs.values()
    flat = [weights[name] for name in sorted(weights)] if weights else []
    return module.main(images, *flat, *rest).to_host()


RUN = {"jax": run_jax, "onnxruntime": run_onnxruntime, "iree": run_iree}


def main(jobs):
    for job in jobs:
        with np.load(job["inputs"]) as arrays:
            inputs = dict(arrays)
        weights = None
        if job["weights"]:
            from safetensors.numpy import load_file

            weights = load_file(job["weights"])
        np.save(job["output"], np.asarray(RUN[job["runtime"]](job["file"], inputs, weights)))
    assert not [name for name in sys.modules if name.partition(".")[0] == "vjproof"]


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
