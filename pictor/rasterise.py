"""Renders drawings (SVG or WebP) to RGBA pixels in a shared buffer and measures their colours and bounding boxes."""

import io
import zlib

import numpy as np
from palette import NAMED_HUES
from placement import DrawingTraits

SIDE = 256  # pixels of a drawing's side
DRAWING_BYTES = SIDE * SIDE * 4
SAMPLING_STRIDE = 4  # every fourth pixel in each direction is measured

# Buffer of DRAWING_BYTES for each drawing. Set it before worker processes are forked.
pixel_buffer = None


def render_drawing(job):
    """Renders a drawing into the shared buffer.

    `job` is (row, SVG text, path of a WebP file or None). Returns (row, traits, checksum); the latter two are None if the
    drawing is empty or cannot be rendered.
    """
    row, svg, webp_path = job
    from PIL import Image

    try:
        if webp_path:
            image = Image.open(webp_path)
        else:
            import resvg_py

            png = resvg_py.svg_to_bytes(svg_string=svg, width=SIDE, height=SIDE, skip_system_fonts=True)
            image = Image.open(io.BytesIO(bytes(png)))
        image = image.convert("RGBA")
        pixels = np.asarray(image.resize((SIDE, SIDE)) if image.size != (SIDE, SIDE) else image)
    except BaseException:  # resvg reports a panic as a BaseException
        return row, None, None
    np.frombuffer(pixel_buffer, np.uint8, DRAWING_BYTES, row * DRAWING_BYTES)[:] = pixels.reshape(-1)
    samples = pixels[::SAMPLING_STRIDE, ::SAMPLING_STRIDE].reshape(-1, 4).astype(np.float32)
    is_opaque = samples[:, 3] > 128
    if is_opaque.mean() < 0.004:
        return row, None, None
    is_mono, colour_name, hue = measure_colour(samples[is_opaque, :3] / 255)
    return row, DrawingTraits(is_mono, colour_name, hue, measure_box(pixels)), checksum(pixels)


def measure_colour(colours):
    """Returns (is it black alone, name of the dominant colour or None, its hue or None) of opaque pixels [n, 3] in 0..1."""
    brightest, darkest = colours.max(1), colours.min(1)
    chroma = brightest - darkest
    saturation = chroma / (brightest + 1e-6)
    is_mono = bool(brightest.max() < 0.08)
    red, green, blue = colours[:, 0], colours[:, 1], colours[:, 2]
    hues = (
        np.where(
            brightest == red,
            ((green - blue) / (chroma + 1e-6)) % 6,
            np.where(brightest == green, (blue - red) / (chroma + 1e-6) + 2, (red - green) / (chroma + 1e-6) + 4),
        )
        * 60
    )
    is_vivid = (saturation > 0.35) & (brightest > 0.3)
    colour_name, dominant_hue = None, None
    if is_vivid.mean() > 0.35:
        distances = np.stack([np.abs((hues[is_vivid] - hue + 180) % 360 - 180) for _, hue in NAMED_HUES], 1)
        labels = distances.argmin(1)
        counts = np.bincount(labels, minlength=len(NAMED_HUES))
        dominant = int(counts.argmax())
        if counts[dominant] / len(labels) > 0.6:
            is_dominant = labels == dominant
            colour_name, dominant_hue = NAMED_HUES[dominant][0], float(np.median(hues[is_vivid][is_dominant]))
            if colour_name in ("orange", "red") and brightest[is_vivid][is_dominant].mean() < 0.62:
                colour_name = "brown"
    elif not is_mono and is_vivid.mean() < 0.12:
        brightness = brightest.mean()
        colour_name = "black" if brightness < 0.25 else "white" if brightness > 0.88 else "gray"
    return is_mono, colour_name, dominant_hue


def measure_box(pixels):
    """Returns the bounding box (left, top, right, bottom) of the opaque pixels, in -1..1."""
    is_opaque = pixels[::SAMPLING_STRIDE, ::SAMPLING_STRIDE, 3] > 128
    columns, rows = is_opaque.any(0).nonzero()[0], is_opaque.any(1).nonzero()[0]
    half = SIDE // SAMPLING_STRIDE // 2
    return columns[0] / half - 1, rows[0] / half - 1, (columns[-1] + 1) / half - 1, (rows[-1] + 1) / half - 1


def checksum(pixels):
    """Returns a checksum of every second pixel, by which identical drawings are found."""
    return zlib.crc32(pixels[::2, ::2].tobytes())
