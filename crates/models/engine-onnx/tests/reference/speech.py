"""Writes the references for speech with the Python implementations of the models.

    pip install hibari-tts==0.2.1 numpy onnx onnxruntime==1.31.1
    python speech.py sentences.txt FOLDER_OF_TTS_KOKORO

`pronunciations.tsv`: each line of a text as hibari-tts reads it, American and British.
`kokoro-hello.wav`, `hibari-hello.wav`: one greeting by each model, 16 bit mono at 24 kHz.
"""

import sys
import wave

import numpy as np
import onnx
import onnxruntime
from hibari import Hibari
from hibari.g2p import G2P
from onnx import numpy_helper

GREETING = "həlˈO ðˈɛɹ."
HALF, SINGLE = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT


def widened(path):
    """Kokoro's graph in single precision: in half precision this greeting is not a number."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type == HALF:
            wide = numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.t.data_type == HALF:
                wide = numpy_helper.to_array(attribute.t).astype(np.float32)
                attribute.t.CopyFrom(numpy_helper.from_array(wide))
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == HALF:
                attribute.i = SINGLE
    del model.graph.value_info[:]
    return onnxruntime.InferenceSession(model.SerializeToString())


def write(path, sound):
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, 24000, 0, "NONE", ""))
        file.writeframes((np.clip(sound, -1, 1) * 32767).round().astype("<i2").tobytes())


def main(sentences, kokoro):
    hibari = Hibari()
    write("hibari-hello.wav", hibari.from_phonemes(GREETING, seed=1))

    ids = hibari.ids(GREETING)
    styles = np.fromfile(f"{kokoro}/voices/af_sky.bin", np.float32).reshape(510, 1, 256)
    inputs = {
        "input_ids": np.array([ids]),
        "style": styles[len(GREETING) - 1],
        "speed": np.ones(1, np.float32),
    }
    write("kokoro-hello.wav", widened(f"{kokoro}/kokoro-82m-fp16.onnx").run(None, inputs)[0][0])

    american, british = G2P(), G2P(british=True)
    with open(sentences) as lines, open("pronunciations.tsv", "w") as out:
        for line in filter(None, map(str.strip, lines)):
            out.write(f"{line}\t{american(line)}\t{british(line)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
