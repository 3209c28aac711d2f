#!/usr/bin/env python3
"""Prints what Whisper's features are for the signal of the unit test, by the book, in numpy.

The filters are librosa's (Slaney's scale and norm) and the steps are those of OpenAI's
`log_mel_spectrogram`: reflection at the start, a periodic Hann window, powers, the logarithm,
a floor eight below the loudest, a scale.
"""

import numpy

RATE, WINDOW, HOP, BANDS, FRAMES = 16000, 400, 160, 80, 3000


def hertz(mel):
    return numpy.where(mel < 15, mel * 200 / 3, 1000 * numpy.exp((mel - 15) * numpy.log(6.4) / 27))


def filters():
    highest = 15 + numpy.log(8000 / 1000) / (numpy.log(6.4) / 27)
    edges = hertz(numpy.linspace(0, highest, BANDS + 2))
    bins = numpy.linspace(0, RATE / 2, WINDOW // 2 + 1)
    matrix = numpy.zeros((BANDS, len(bins)))
    for band in range(BANDS):
        low, peak, high = edges[band : band + 3]
        triangle = numpy.minimum((bins - low) / (peak - low), (high - bins) / (high - peak))
        matrix[band] = numpy.maximum(0, triangle) * 2 / (high - low)
    return matrix


def features(samples):
    padded = numpy.zeros(FRAMES * HOP)
    padded[: len(samples)] = samples
    padded = numpy.pad(padded, WINDOW // 2, mode="reflect")
    window = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(WINDOW) / WINDOW)
    frames = numpy.stack([padded[at * HOP : at * HOP + WINDOW] for at in range(FRAMES)])
    power = numpy.abs(numpy.fft.rfft(frames * window)) ** 2
    logs = numpy.log10(numpy.maximum(filters() @ power.T, 1e-10))
    return (numpy.maximum(logs, logs.max() - 8) + 4) / 4


if __name__ == "__main__":
    time = numpy.arange(RATE * 2) / RATE
    found = features(0.3 * numpy.sin(2 * numpy.pi * (200 + 900 * time) * time))
    for band, frame in [(0, 0), (5, 3), (10, 50), (20, 100), (40, 150), (60, 199), (79, 10), (30, 201), (0, 2999)]:
        print(f"({band}, {frame}, {found[band, frame]:.4f}),")
