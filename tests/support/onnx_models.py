"""Small ONNX models for tests, written in protobuf's wire form: they need no library. onnx_models.hpp has the same."""

import array
import functools
import struct

MLP_INPUT = "x"
MLP_WIDTH = 64
MLP_LAYERS = (MLP_WIDTH, 1024, 1024, 16)

# TensorProto.DataType
FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64 = range(1, 14)
BFLOAT16 = 16


# ---- protobuf

def varint(value):
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def chunk(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def chunks(field, values):
    return b"".join(chunk(field, value) for value in values)


# ---- parts of a model

def value(name, kind, shape):
    """An input or an output. A dimension that is a string is free."""
    dims = [chunk(2, dim) if isinstance(dim, str) else number(1, dim) for dim in shape]
    return chunk(1, name) + chunk(2, chunk(1, number(1, kind) + chunk(2, chunks(1, dims))))


def weight(name, kind, shape, data):
    return b"".join(number(1, dim) for dim in shape) + number(2, kind) + chunk(8, name) + chunk(9, data)


def external_weight(name, kind, shape, file):
    return (b"".join(number(1, dim) for dim in shape) + number(2, kind) + chunk(8, name) +
            chunk(13, chunk(1, "location") + chunk(2, file)) + number(14, 1))


def attribute(name, content):
    if isinstance(content, int):
        return chunk(1, name) + number(3, content) + number(20, 2)
    return chunk(1, name) + chunk(6, content) + number(20, 5)  # a graph


def node(operator, inputs, outputs, domain="", **attributes):
    return (chunks(1, inputs) + chunks(2, outputs) + chunk(4, operator) +
            b"".join(chunk(5, attribute(*each)) for each in attributes.items()) + (chunk(7, domain) if domain else b""))


def graph(nodes, inputs, outputs, weights=()):
    return chunks(1, nodes) + chunk(2, "g") + chunks(5, weights) + chunks(11, inputs) + chunks(12, outputs)


def model(the_graph, note="", domain=""):
    return (number(1, 8) + chunk(2, "herald tests") + (chunk(6, note) if note else b"") + chunk(7, the_graph) +
            chunk(8, number(2, 17)) + (chunk(8, chunk(1, domain) + number(2, 1)) if domain else b""))


# ---- models

def tiny(seed=0):
    """x and y, INT32[1,16], give their sum and difference. Every seed makes other bytes, none another result."""
    inputs = [value(name, INT32, (1, 16)) for name in ("x", "y")]
    outputs = [value(name, INT32, (1, 16)) for name in ("sum", "difference")]
    return model(graph([node("Add", ("x", "y"), ("sum",)), node("Sub", ("x", "y"), ("difference",))], inputs, outputs),
                 note=f"seed {seed}")


def pseudo_random_floats(count, seed):
    """Exact in any language: 16 bits each of a linear congruential generator, in [-1/16, 1/16)."""
    out, state = array.array("f"), seed
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(((state >> 16) - 32768) / 524288)
    return out.tobytes()


@functools.cache
def mlp():
    """x, FP32[N,64], through two hidden layers; gives probabilities, FP32[N,16]."""
    nodes, weights, last = [], [], MLP_INPUT
    for at, (rows, columns) in enumerate(zip(MLP_LAYERS, MLP_LAYERS[1:])):
        weights.append(weight(f"w{at}", FLOAT, (rows, columns), pseudo_random_floats(rows * columns, at + 1)))
        weights.append(weight(f"b{at}", FLOAT, (columns,), pseudo_random_floats(columns, at + 100)))
        nodes.append(node("Gemm", (last, f"w{at}", f"b{at}"), (f"h{at}",)))
        if at + 2 < len(MLP_LAYERS):
            nodes.append(node("Relu", (f"h{at}",), (f"r{at}",)))
            last = f"r{at}"
    nodes.append(node("Softmax", (f"h{len(MLP_LAYERS) - 2}",), ("probabilities",), axis=1))
    return model(graph(nodes, [value(MLP_INPUT, FLOAT, ("N", MLP_WIDTH))],
                       [value("probabilities", FLOAT, ("N", MLP_LAYERS[-1]))], weights))


def identity(kind, shape):
    """x as it came, as y."""
    return model(graph([node("Identity", ("x",), ("y",))], [value("x", kind, shape)], [value("y", kind, shape)]))


def text():
    """BYTES[N], as they came."""
    return identity(STRING, ("N",))


def cumulative_sum():
    """A row's result depends on the rows before it: wrong when batched."""
    return model(graph([node("CumSum", ("x", "axis"), ("y",))], [value("x", FLOAT, ("N", 4))], [value("y", FLOAT, ("N", 4))],
                       [weight("axis", INT64, (), struct.pack("<q", 0))]))


def quantized():
    """The scale is that of all rows together: wrong when batched."""
    nodes = [node("DynamicQuantizeLinear", ("x",), ("q", "scale", "zero")), node("DequantizeLinear", ("q", "scale", "zero"), ("y",))]
    return model(graph(nodes, [value("x", FLOAT, ("N", 4))], [value("y", FLOAT, ("N", 4))]))


def gather():
    """Row i of a table of eight: an index beyond it is refused when it runs."""
    return model(graph([node("Gather", ("table", "i"), ("y",))], [value("i", INT64, ("N",))], [value("y", FLOAT, ("N", 2))],
                       [weight("table", FLOAT, (8, 2), pseudo_random_floats(16, 7))]))


def of_shape():
    """As many times false as the shape that it is told says, INT64[2]: as y, BOOL[N,M]."""
    return model(graph([node("ConstantOfShape", ("shape",), ("zeros",)), node("Cast", ("zeros",), ("y",), to=BOOL)],
                       [value("shape", INT64, (2,))], [value("y", BOOL, ("N", "M"))]))


def counting():
    """The body of a loop that adds one at each step."""
    return graph([node("Identity", ("going",), ("goes",)), node("Add", ("y_in", "one"), ("y_out",))],
                 [value("at", INT64, ()), value("going", BOOL, ()), value("y_in", FLOAT, (1,))],
                 [value("goes", BOOL, ()), value("y_out", FLOAT, (1,))])


def slow():
    """Counts to steps, INT64[1], one by one: as slow as one likes. Gives y, FP32[1]."""
    return model(graph([node("Loop", ("steps", "", "zero"), ("y",), body=counting())], [value("steps", INT64, (1,))],
                       [value("y", FLOAT, (1,))],
                       [weight("zero", FLOAT, (1,), bytes(4)), weight("one", FLOAT, (1,), struct.pack("<f", 1))]))


def slow_to_load():
    """Adds a million million times one to x, FP32[1], also when it is warmed up."""
    return model(graph([node("Loop", ("steps", "", "x"), ("y",), body=counting())], [value("x", FLOAT, (1,))],
                       [value("y", FLOAT, (1,))],
                       [weight("steps", INT64, (1,), struct.pack("<q", 10 ** 12)),
                        weight("one", FLOAT, (1,), struct.pack("<f", 1))]))


def one_long_operator():
    """The product of a matrix of ones, of the shape INT64[2], with itself: one operator that nothing can interrupt. Gives y, its shape."""
    nodes = [node("ConstantOfShape", ("shape",), ("m",)), node("Cast", ("m",), ("whole",), to=INT64),
             node("MatMul", ("whole", "whole"), ("product",)), node("Shape", ("product",), ("y",))]
    return model(graph(nodes, [value("shape", INT64, (2,))], [value("y", INT64, (2,))]))


def many():
    """As many ones as count, INT64[1], says."""
    return model(graph([node("ConstantOfShape", ("count",), ("y",))], [value("count", INT64, (1,))], [value("y", FLOAT, ("N",))]))


def wrong_shapes():
    """[2,3] times [2,3]: no runtime loads it."""
    return model(graph([node("MatMul", ("x", "x"), ("y",))], [value("x", FLOAT, (2, 3))], [value("y", FLOAT, (2, 3))]))


def external_data(file="weights.bin"):
    return model(graph([node("Add", ("x", "w"), ("y",))], [value("x", FLOAT, (1,))], [value("y", FLOAT, (1,))],
                       [external_weight("w", FLOAT, (1,), file)]))


def unknown_operator():
    """Of a domain that nobody knows."""
    return model(graph([node("Frobnicate", ("x",), ("y",), domain="org.example")], [value("x", FLOAT, (1,))],
                       [value("y", FLOAT, (1,))]), domain="org.example")
