"""Composes pictures from rendered drawings, scenes and recipes, in batches on the GPU."""

import torch
import torch.nn.functional as F

SIDE = 256


def rotate_hue(rgb, degrees):
    """Rotates the hue of rgb [n, 3, height, width] in 0..1 by degrees [n], in HSV."""
    brightest, brightest_channel = rgb.max(1)
    chroma = brightest - rgb.min(1)[0]
    red, green, blue = rgb.unbind(1)
    divisor = chroma + 1e-6
    hue = (
        torch.where(
            brightest_channel == 0,
            ((green - blue) / divisor) % 6,
            torch.where(brightest_channel == 1, (blue - red) / divisor + 2, (red - green) / divisor + 4),
        )
        * 60
    )
    hue = (hue + degrees[:, None, None]) % 360
    saturation = chroma / (brightest + 1e-6)

    def channel(offset):
        sector = (offset + hue / 60) % 6
        share = torch.clamp(torch.minimum(torch.minimum(sector, 4 - sector), torch.ones_like(sector)), 0)
        return brightest - brightest * saturation * share

    return torch.stack([channel(5), channel(3), channel(1)], 1)


def compose_pictures(drawing_pixels, scene_pixels, recipes):
    """Returns pictures [n, 3, 256, 256] in -1..1.

    drawing_pixels uint8 [drawings, 256, 256, 4]; scene_pixels uint8 [scenes, 3, 256, 256]; `recipes` is RecipeArrays of
    tensors on the same device.
    """
    scene_rows = recipes.backgrounds[:, 0].long()
    pictures = (recipes.backgrounds[:, 1:] / 255)[:, :, None, None].expand(-1, -1, SIDE, SIDE).clone()
    has_scene = scene_rows >= 0
    if has_scene.any():
        pictures[has_scene] = scene_pixels[scene_rows[has_scene]].float() / 255
    for position in range(recipes.drawings.shape[1]):
        selected = (recipes.drawings[:, position] >= 0).nonzero()[:, 0]
        if not len(selected):
            break
        geometry, colours = recipes.geometry[selected, position], recipes.colours[selected, position]
        pixels = drawing_pixels[recipes.drawings[selected, position].long()].permute(0, 3, 1, 2).float() / 255
        layer = colour_layer(pixels, geometry[:, 4], colours)
        placed = place_layer(layer, geometry)
        pictures[selected] = pictures[selected] * (1 - placed[:, 3:]) + placed[:, :3]
    return pictures.clamp(0, 1) * 2 - 1


def colour_layer(pixels, hue_shifts, colours):
    """Applies hue shifts [n] and replacing colours [n, 3] to RGBA pixels [n, 4, 256, 256]; returns them premultiplied."""
    rgb, alpha = pixels[:, :3], pixels[:, 3:]
    shifted = (hue_shifts != 0).nonzero()[:, 0]
    if len(shifted):
        rgb[shifted] = rotate_hue(rgb[shifted], hue_shifts[shifted])
    painted = (colours[:, 0] >= 0).nonzero()[:, 0]
    if len(painted):
        rgb[painted] = (colours[painted] / 255)[:, :, None, None].expand(-1, -1, SIDE, SIDE)
    return torch.cat([rgb * alpha, alpha], 1)


def place_layer(layer, geometry):
    """Scales, mirrors and moves premultiplied RGBA pixels [n, 4, 256, 256] by geometry [n, 5]."""
    scale, x, y, direction = geometry[:, 0], geometry[:, 1], geometry[:, 2], geometry[:, 3]
    is_small = scale < 0.7
    if is_small.any():  # Averaging before the reduction prevents aliasing of thin lines.
        layer[is_small] = F.interpolate(F.avg_pool2d(layer[is_small], 2), scale_factor=2, mode="bilinear")
    transform = torch.zeros(len(layer), 2, 3, device=layer.device)
    transform[:, 0, 0] = direction / scale
    transform[:, 1, 1] = 1 / scale
    transform[:, 0, 2] = -x / scale * direction
    transform[:, 1, 2] = -y / scale
    is_identity = (scale == 1) & (direction > 0) & (x == 0) & (y == 0)
    placed = F.grid_sample(
        layer,
        F.affine_grid(transform, (len(layer), 4, SIDE, SIDE), align_corners=False),
        mode="bilinear",
        padding_mode="zeros",
        align_corners=False,
    )
    return torch.where(is_identity[:, None, None, None], layer, placed)
