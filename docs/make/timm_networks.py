"""Makes trainables/network/timm_networks.csv: what is known of networks of timm before a trial.

    python -m docs.make.timm_networks

Networks are made on the device ``meta``, so nothing is downloaded or computed.
"""

import csv
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import timm
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from podium.trainables.network import timm_facts
from podium.trainables.network.timm_backbone import own_pooling, size_multiple
from podium.trainables.network.timm_facts import TimmFacts, authors_pooling

_NAMES = """
vit_small_patch14_dinov2.lvd142m vit_base_patch14_dinov2.lvd142m vit_large_patch14_dinov2.lvd142m
vit_giant_patch14_dinov2.lvd142m vit_small_patch14_reg4_dinov2.lvd142m
vit_base_patch14_reg4_dinov2.lvd142m vit_large_patch14_reg4_dinov2.lvd142m
vit_small_patch16_dinov3.lvd1689m vit_small_plus_patch16_dinov3.lvd1689m
vit_base_patch16_dinov3.lvd1689m vit_large_patch16_dinov3.lvd1689m
vit_huge_plus_patch16_dinov3.lvd1689m convnext_tiny.dinov3_lvd1689m convnext_small.dinov3_lvd1689m
convnext_base.dinov3_lvd1689m convnext_large.dinov3_lvd1689m
vit_base_patch32_clip_224.openai vit_base_patch16_clip_224.openai vit_large_patch14_clip_224.openai
vit_large_patch14_clip_336.openai vit_base_patch16_clip_224.laion2b
vit_large_patch14_clip_224.laion2b vit_base_patch16_clip_224.dfn2b vit_large_patch14_clip_224.dfn2b
vit_base_patch16_siglip_224.v2_webli vit_base_patch16_siglip_256.v2_webli
vit_base_patch16_siglip_384.v2_webli vit_large_patch16_siglip_256.v2_webli
vit_large_patch16_siglip_384.v2_webli vit_so400m_patch14_siglip_224.v2_webli
vit_base_patch16_siglip_224.webli vit_large_patch16_siglip_384.webli
vit_pe_core_tiny_patch16_384.fb vit_pe_core_small_patch16_384.fb vit_pe_core_base_patch16_224.fb
vit_pe_core_large_patch14_336.fb vit_base_patch14_reg1_tipsv2.webli
eva02_tiny_patch14_224.mim_in22k eva02_small_patch14_224.mim_in22k eva02_base_patch14_224.mim_in22k
eva02_base_patch16_clip_224.merged2b eva02_large_patch14_clip_224.merged2b
vit_tiny_patch16_224.augreg_in21k vit_small_patch16_224.augreg_in21k
vit_small_patch32_224.augreg_in21k vit_base_patch16_224.augreg_in21k
vit_base_patch32_224.augreg_in21k vit_large_patch16_224.augreg_in21k vit_base_patch16_224.mae
vit_small_patch16_224.dino vit_base_patch16_224.dino vit_small_patch8_224.dino
deit3_small_patch16_224.fb_in22k_ft_in1k deit3_base_patch16_224.fb_in22k_ft_in1k
beitv2_base_patch16_224.in1k_ft_in22k swin_tiny_patch4_window7_224.ms_in22k
swin_small_patch4_window7_224.ms_in22k swin_base_patch4_window7_224.ms_in22k
convnextv2_tiny.fcmae_ft_in22k_in1k convnextv2_base.fcmae_ft_in22k_in1k
convnext_tiny.fb_in22k convnext_base.fb_in22k fastvit_mci0.apple_mclip2_dfndr2b
resnet18.a1_in1k resnet50.a1_in1k resnet50.tv_in1k resnet101.a1_in1k efficientnet_b0.ra_in1k
tf_efficientnet_lite0.in1k mobilenetv3_small_100.lamb_in1k mobilenetv4_conv_small.e2400_r224_in1k
"""


def main() -> None:
    """Write the table."""
    path = Path(timm_facts.__file__).parent / "timm_networks.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(
            file, [field.name for field in fields(TimmFacts)], lineterminator="\n"
        )
        table.writeheader()
        table.writerows(asdict(facts_of(name)) for name in sorted(_NAMES.split()))


def facts_of(name: str) -> TimmFacts:
    """What a network is, measured at its own image size."""
    with torch.device("meta"):
        network = timm.create_model(name, num_classes=0).eval().requires_grad_(False)
        side = network.pretrained_cfg["input_size"][1]
        images_2CHW = torch.zeros(2, 3, side, side)
    with torch.no_grad(), FlopCounterMode(display=False) as counted:
        features = network(images_2CHW).shape[1]
    is_fixed = network.pretrained_cfg.get("fixed_input_size", False)
    return TimmFacts(
        name=name,
        million_parameters=_digits(sum(it.numel() for it in network.parameters()) / 1e6),
        features=features,
        side=side,
        multiple=size_multiple(network) if is_fixed else 1,
        giga_multiply_adds=_digits(counted.get_total_flops() / 2 / 2e9),
        activation_mb=_digits(_kept_bytes(network, images_2CHW) / 2 / 1e6),
        pooling=authors_pooling(name, own_pooling(network)),
        prefix_tokens=getattr(network, "num_prefix_tokens", 0),
        licence=network.pretrained_cfg["license"],
    )


def _kept_bytes(network: Any, images_BCHW: Tensor) -> int:
    """Bytes of what a forward pass in training keeps for the gradient, without the weights.

    Matrices of attention do not count: fused kernels keep none.
    """
    num_patches = network.patch_embed.num_patches if hasattr(network, "num_prefix_tokens") else 0
    num_tokens = num_patches + getattr(network, "num_prefix_tokens", 0)
    weights = {it.untyped_storage()._cdata for it in network.parameters()}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        if not num_tokens or tensor.shape[-2:] != (num_tokens, num_tokens):
            kept[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        network.train().requires_grad_()(images_BCHW).sum()
    return sum(it.untyped_storage().nbytes() for key, it in kept.items() if key not in weights)


def _digits(number: float) -> float:
    return float(f"{number:.3g}")


if __name__ == "__main__":
    main()
