"""Makes the `tools-*` files: what the picture tools make of `tools-rocket.png`, by other code.

    pip install numpy onnx onnxruntime pillow safetensors
    python tools.py MODELS

MODELS is a folder as `tollgate models pull` makes it, with upscale-esrgan beside the default models.
"""

import json
import pathlib
import sys

import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from safetensors.numpy import load_file

HERE = pathlib.Path(__file__).parent
MODELS = pathlib.Path(sys.argv[1])
WEIGHTS = HERE.parents[1] / "weights" / "compact.f16.safetensors"
ROCKET = Image.open(HERE / "tools-rocket.png").convert("RGB")


def run(model, **inputs):
    session = onnxruntime.InferenceSession(model)
    names = [it.name for it in session.get_inputs()]
    return session.run(None, dict(zip(names, inputs.values(), strict=True)))[0]


def channels_first(picture):
    return numpy.asarray(picture).transpose(2, 0, 1)[None]


def bytes_of(values):
    return (values.clip(0, 1) * 255 + 0.5).astype(numpy.uint8)


def compact():
    weights = {name: it.astype(numpy.float32) for name, it in load_file(WEIGHTS).items()}
    nodes, state = [], "input"
    for number in range(18):
        inputs = [state, f"conv.{number}.weight", f"conv.{number}.bias"]
        state = f"state.{number}"
        nodes.append(helper.make_node("Conv", inputs, [state], kernel_shape=[3, 3], pads=[1] * 4))
        if number < 17:
            name = f"slope.{number}"
            weights[name] = weights[name].reshape(64, 1, 1)
            nodes.append(helper.make_node("PRelu", [state, name], [f"bent.{number}"]))
            state = f"bent.{number}"
    weights["scales"] = numpy.array([1, 1, 4, 4], numpy.float32)
    nodes += [
        helper.make_node("DepthToSpace", [state], ["detail"], blocksize=4, mode="CRD"),
        helper.make_node(
            "Resize",
            ["input", "", "scales"],
            ["plain"],
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        ),
        helper.make_node("Add", ["detail", "plain"], ["output"]),
    ]
    shape = helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, "height", "width"])
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, None)
    constants = [numpy_helper.from_array(it, name) for name, it in weights.items()]
    graph = helper.make_graph(nodes, "compact", [shape], [output], constants)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def enlarged(model, picture, margin):
    """With the picture mirrored around, of which the network's own edges are cut away."""
    pixels = numpy.asarray(picture).astype(numpy.float32) / 255
    pixels = numpy.pad(pixels, [(margin, margin), (margin, margin), (0, 0)], mode="symmetric")
    made = run(model, picture=pixels.transpose(2, 0, 1)[None])[0].transpose(1, 2, 0)
    factor = made.shape[0] // pixels.shape[0]
    edge = margin * factor
    return Image.fromarray(bytes_of(made[edge:-edge, edge:-edge]))


def main():
    part = ROCKET.crop((96, 96, 160, 160))
    enlarged(compact(), part, 20).save(HERE / "tools-compact.png", optimize=True)
    path = str(MODELS / "upscale-esrgan" / "real_esrgan_x2.onnx")
    enlarged(path, part, 16).save(HERE / "tools-esrgan.png", optimize=True)

    small = numpy.asarray(ROCKET.resize((320, 320), Image.LANCZOS)).astype(numpy.float32)
    small = (small / small.max() - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    path = str(MODELS / "cutout-u2net" / "u2netp.onnx")
    found = run(path, picture=small.astype(numpy.float32).transpose(2, 0, 1)[None])[0, 0]
    found = (found - found.min()) / (found.max() - found.min())
    found = Image.fromarray((found - 0.1) / 0.8).resize(ROCKET.size, Image.LANCZOS)
    Image.fromarray(bytes_of(numpy.asarray(found))).save(HERE / "tools-mask.png", optimize=True)

    doubled = ROCKET.resize((512, 512), Image.NEAREST)
    mask = numpy.full((1, 1, 512, 512), 255, numpy.uint8)
    mask[:, :, 200:300, 180:330] = 0
    path = str(MODELS / "erase-migan" / "migan_pipeline_v2.onnx")
    filled = run(path, picture=channels_first(doubled), mask=mask)[0].transpose(1, 2, 0)
    filled = Image.fromarray(filled).crop((180, 200, 330, 300))
    filled.save(HERE / "tools-filled.png", optimize=True)

    small = ROCKET.resize((256, 256), Image.BILINEAR).crop((16, 16, 240, 240))
    seen = numpy.asarray(small).astype(numpy.float32)[..., ::-1] - [104, 117, 123]
    path = str(MODELS / "safety-open-nsfw" / "open-nsfw.onnx")
    [[_, score]] = run(path, picture=seen[None].astype(numpy.float32))
    print(json.dumps({"rocket": float(score)}))


main()
