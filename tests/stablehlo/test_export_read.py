"""Our own exports are read back as what they were written from; only an artifact's erfc is an approximation."""

import numpy as np
import pytest

from tests.compare import assert_close
from tests.nets import draw, make_config
from vjproof.stablehlo.export import export_module
from vjproof.stablehlo.read import read_stablehlo
from vjproof.vit import model
from vjproof.vit.params import map_tensors


@pytest.mark.parametrize("gelu", ["erf", "tanh"])
@pytest.mark.parametrize("form", ["text", "artifact"])
def test_an_export_is_read_as_the_chain(gelu, form):
    config = make_config(gelu=gelu)
    params, images, d_logits = draw(config, 2)
    params = map_tensors(lambda tensor: tensor.astype(np.float32).astype(float), params)
    # eps and literals are read as float32 rounds them, or as the constants that they stand for.
    logits, gradient = model.logits_and_gradient(config, params, images, d_logits)
    forward, reverse = (
        read_stablehlo(getattr(export_module(config, params, what, batch=2), form)) for what in ("forward", "gradient")
    )
    assert_close(forward.run(images)[0], logits, 1e-6)
    assert_close(reverse.run(images, d_logits)[0], gradient, 1e-6)
    declared = {entry.function for entry in reverse.approximations}
    assert declared == ({"erfc"} if gelu == "erf" and form == "artifact" else set())
    assert all(entry.bound < 1e-7 for entry in reverse.approximations)
