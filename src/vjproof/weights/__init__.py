"""Networks from files: safetensors (timm, Hugging Face, DINOv2, our own layout) and PyTorch checkpoints."""

from vjproof.weights.checkpoint import Checkpoint, load
from vjproof.weights.native import save
from vjproof.weights.report import LoadReport

__all__ = ["Checkpoint", "LoadReport", "load", "save"]
