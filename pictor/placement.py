"""Records that describe drawings and their places in a picture, and the geometry of bounding boxes.

Coordinates of a picture run from -1 to 1, x to the right and y downwards. A drawing at scale 1 covers the picture.
"""

from typing import NamedTuple


class DrawingTraits(NamedTuple):
    """What rasterise.py measures on a drawing."""

    is_mono: bool  # drawn in black alone
    colour_name: str | None  # the dominant colour, if there is one
    hue: float | None  # degrees, of the dominant colour unless it is black, white or gray
    box: tuple  # left, top, right, bottom of the drawing at scale 1


class Placement(NamedTuple):
    """One drawing in a picture."""

    drawing: int  # row of the drawing
    scale: float
    x: float  # centre
    y: float
    is_flipped: bool = False
    hue_shift: float = 0  # degrees
    colour: tuple | None = None  # replaces all colours of the drawing


def mirror_box(box):
    """Mirrors a bounding box left to right."""
    left, top, right, bottom = box
    return -right, top, -left, bottom


def align_box(box, scale, anchor, target, is_flipped=False):
    """Returns the centre of a drawing such that its point `anchor` (0..1 across and down its bounding box) is at `target`."""
    left, top, right, bottom = mirror_box(box) if is_flipped else box
    return (
        target[0] - scale * (left + (right - left) * anchor[0]),
        target[1] - scale * (top + (bottom - top) * anchor[1]),
    )


def placed_box(box, scale, x, y, is_flipped=False):
    """Returns the bounding box of a drawing that is placed with its centre at x, y."""
    left, top, right, bottom = mirror_box(box) if is_flipped else box
    return x + scale * left, y + scale * top, x + scale * right, y + scale * bottom


class RecipeArrays(NamedTuple):
    """Recipes as arrays (NumPy or PyTorch) for n pictures of up to k drawings each."""

    drawings: object  # [n, k] int32: rows of the drawings, -1 for none
    geometry: object  # [n, k, 5]: scale, x, y, -1 if mirrored or else 1, hue shift in degrees
    colours: object  # [n, k, 3]: colour in 0..255 that replaces the drawing's own, -1 for none
    backgrounds: object  # [n, 4]: row of the scene or -1, and the plain colour in 0..255

    def select(self, indices):
        """Returns the recipes at these indices (a list, an array or a slice)."""
        return RecipeArrays(*(array[indices] for array in self))


# Names of the arrays in the files specs.npz and specsheld.npz, in the order of RecipeArrays.
RECIPE_FILE_KEYS = ("I", "G", "C", "B")
