"""JAX functions as StableHLO text: traced on shapes, nothing compiled, nothing run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt


@dataclass(frozen=True)
class Leaf:
    """An array of a pytree: its name (`params.blocks.0.w`), sizes and element type."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def is_float(self) -> bool:
        """Whether a derivative with respect to it makes sense."""
        return self.dtype in ("float16", "bfloat16", "float32", "float64")


def leaves_of(tree: Any, name: str) -> list[Leaf]:
    """Return the arrays of a pytree, in JAX's order, with readable names that begin with `name`.

    Arrays are anything with shape and dtype, or Python numbers. VjproofError for any other leaf.
    """
    import jax

    found = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        key = jax.tree_util.keystr(path, simple=True, separator=".")
        label = f"{name}.{key}" if key else name
        try:
            kind = jax.typeof(leaf) if not hasattr(leaf, "dtype") else leaf
            found.append(Leaf(label, tuple(map(int, kind.shape)), str(kind.dtype)))
        except (TypeError, ValueError) as error:
            expected = "an array, a shape struct or a number"
            raise VjproofError(f"argument {excerpt(label)}", expected=expected, got=excerpt(error)) from None
    return found


def trace(function: Callable[..., Any], arguments: Sequence[Any], where: str) -> str:
    """Return the StableHLO text of a function on pytrees of arrays or shape structs, with source locations.

    Every array of the arguments is an argument of the module, used or not. 64-bit types are kept where an argument
    has one. VjproofError with the reason where JAX cannot trace it.
    """
    import jax

    _leave_out_of_locations()
    with wide(arguments):
        try:
            return str(jax.jit(function, keep_unused=True).lower(*arguments).as_text(debug_info=True))
        except VjproofError:
            raise
        except Exception as error:  # whatever the user's own function raises
            raise _untraceable(where, error) from None


def result_of(function: Callable[..., Any], arguments: Sequence[Any], where: str) -> Any:
    """Return the shape structs of what a function returns; VjproofError where JAX cannot trace it."""
    import jax

    with wide(arguments):
        try:
            return jax.eval_shape(function, *arguments)
        except VjproofError:
            raise
        except Exception as error:
            raise _untraceable(where, error) from None


def wide(arguments: Any) -> AbstractContextManager[Any]:
    """Return a context in which JAX keeps 64-bit types, where an argument has one."""
    import jax

    dtypes = {str(getattr(leaf, "dtype", "")) for leaf in jax.tree_util.tree_leaves(arguments)}
    context: AbstractContextManager[Any] = jax.enable_x64(True) if dtypes & {"float64", "int64"} else nullcontext()
    return context


def _untraceable(where: str, error: Exception) -> VjproofError:
    line = next((line for line in str(error).splitlines() if line.strip()), "")
    got = f"{type(error).__name__}: {excerpt(line, 200)}"
    return VjproofError(where, expected="a function that JAX can trace on these shapes", got=got)


@cache
def _leave_out_of_locations() -> None:
    """Ask JAX not to tell this package's files as the source of an operation."""
    with suppress(ImportError, AttributeError):  # not part of JAX's public interface: locations only
        from jax._src import source_info_util

        for file in Path(__file__).parent.glob("*.py"):
            source_info_util.register_exclusion(str(file))
