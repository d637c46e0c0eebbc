"""docs/seed-map.md against the code: every name exists, with these arguments, and every test that it cites."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from vjproof.vit import spec

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "seed-map.md").read_text(encoding="utf-8")
SEED = [
    "mhSlab",
    "mhsaSdpaBackV",
    "mhsaSdpaBackQ",
    "mhsaSdpaBackK",
    "coreVFlat",
    "coreQFlat",
    "coreKFlat",
    "mhsaBackFlat",
    "vitBlockBack",
    "vitBlockBackV",
    "vitAttnOutAt",
    "vitBlockBackVAt",
    "vitTowerBackK",
    "clsScatter",
    "vitSavedPE",
    "vitSavedBody",
    "vitInputGradK",
    "vitSavedPEB",
    "vitSavedBodyB",
    "vitInputGradKB",
    "perRowFlat",
    "perRowFlatPR",
    "diagBack",
    "rowLNVecFlatBack",
    "patchEmbed_input_grad_formula",
    "batchMap",
    "batchMapAux",
    "vitBodyKVFlat",
    "vitForwardKV",
    "vitHeadBack",
    "classifier_flat",
    "cls_slice_flat",
]
# One suffix after another: the batch of the patch embedding.
IRREGULAR = {"vitSavedPEB": "vit_saved_pe_b"}


def rows(page):
    """Yield (seed's name, function, argument names, test) for each row of the page's tables."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 6 and cells[0] != "Seed" and not set(line) <= set("|-"):
            seed, here, arguments, _, sentence, test = cells
            if not sentence.endswith("."):
                raise AssertionError(f"no sentence on {seed}")
            names = [part.partition(":")[0].strip() for part in arguments.split(";")]
            yield seed.strip("`"), here.strip("`"), names, test.strip("`")


def snake(name):
    """Return the seed's name in snake case."""
    split = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", re.sub(r"([a-z])([A-Z])", r"\1_\2", name))
    return IRREGULAR.get(name, split.lower())


def check(page):
    """Raise AssertionError for the first row of `page` that the code does not bear out; return the rows."""
    table = list(rows(page))
    for seed, here, names, test in table:
        function = getattr(spec, here, None)
        if not callable(function):
            raise AssertionError(f"vjproof.vit.spec has no {here}")
        if seed in SEED and snake(seed) != here:
            raise AssertionError(f"{seed} is {snake(seed)} in snake case, not {here}")
        if names != list(inspect.signature(function).parameters):
            raise AssertionError(f"{here} takes {list(inspect.signature(function).parameters)}, not {names}")
        file, _, name = test.partition("::")
        defined = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        if name not in {node.name for node in defined if isinstance(node, ast.FunctionDef)}:
            raise AssertionError(f"no test {test}")
    missing = set(SEED) - {seed for seed, *_ in table}
    if missing:
        raise AssertionError(f"the page lacks {sorted(missing)}")
    return table


def test_the_page_agrees_with_the_code():
    check(PAGE)


def test_the_page_lists_every_public_function_of_the_spec():
    listed = [here for _, here, *_ in check(PAGE)]
    assert len(listed) == len(set(listed))
    public = {
        name
        for name, value in vars(spec).items()
        if inspect.isfunction(value) and not name.startswith("_") and "layers.array" not in value.__module__
    }
    assert set(listed) == public


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("`mh_slab`", "`mh_slabs`", "no mh_slabs"),
        ("`mh_slab`", "`mhsa_flat`", "mhSlab is mh_slab in snake case"),
        ("head: int; heads: int; x:", "head: int; x:", "mh_slab takes"),
        ("test_diag_back", "test_diagonal", "no test"),
        ("`clsScatter`", "`scatter`", r"the page lacks \['clsScatter'\]"),
        ("One head's columns.", "", "no sentence on `mhSlab`"),
    ],
)
def test_a_page_that_disagrees_is_refused(old, new, message):
    assert old in PAGE
    with pytest.raises(AssertionError, match=message):
        check(PAGE.replace(old, new, 1))
