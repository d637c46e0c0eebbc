"""A Vision Transformer from torch.nn.functional, with its gradient by autograd."""

import torch
from torch.nn import functional


def logits(config, params, images):
    """Return logits (B, K) for images (B, C, H, W)."""
    d = (config.hidden,)
    grid = functional.conv2d(images, params.patch_weight, params.patch_bias, stride=config.patch)
    tokens = grid.flatten(2).transpose(1, 2)
    x = torch.cat([params.prefix.expand(len(images), -1, -1), tokens], dim=1) + params.position
    for p in params.blocks:
        y = functional.layer_norm(x, d, p.norm1_scale, p.norm1_bias, config.eps)
        q, k, v = (
            functional.linear(y, w.T, b).unflatten(-1, (config.heads, -1)).transpose(1, 2)
            for w, b in ((p.w_q, p.b_q), (p.w_k, p.b_k), (p.w_v, p.b_v))
        )
        context = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        branch = functional.linear(context, p.w_o.T, p.b_o)
        x = torch.add(x, branch if p.scale1 is None else branch.mul(p.scale1))
        y = functional.layer_norm(x, d, p.norm2_scale, p.norm2_bias, config.eps)
        form = "tanh" if config.gelu == "tanh" else "none"
        y = functional.gelu(functional.linear(y, p.w_1.T, p.b_1), approximate=form)
        branch = functional.linear(y, p.w_2.T, p.b_2)
        x = torch.add(x, branch if p.scale2 is None else branch.mul(p.scale2))
    if config.pooling == "mean":
        x = x[:, config.prefix :].mean(dim=1, keepdim=True)
    x = functional.layer_norm(x, d, params.norm_scale, params.norm_bias, config.eps)
    if config.pooling == "norm-mean":
        x = x[:, config.prefix :].mean(dim=1, keepdim=True)
    rows = config.readout if config.pooling == "cls" else 1
    return functional.linear(x[:, :rows].flatten(1), params.w_head.T, params.b_head)


def logits_and_gradient(config, params, images, d_logits):
    """Return NumPy logits and input gradient in float64, for `params` of torch tensors."""
    images = torch.from_numpy(images).requires_grad_()
    values = logits(config, params, images)
    (gradient,) = torch.autograd.grad(values, images, torch.from_numpy(d_logits))
    return values.detach().numpy(), gradient.numpy()
