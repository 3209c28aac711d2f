//! Encodes a graph as an ONNX file: protocol buffers with the field numbers of `onnx.proto`.
//!
//! The runtime also has an API that builds a graph node by node, but such graphs run half as fast.

/// The format version that supports everything used here.
const IR_VERSION: u64 = 8;
const FLOAT: u64 = 1;
const INT32: u64 = 6;
const INT64: u64 = 7;

/// Operator domains: the ONNX standard, and the runtime's own operators.
pub(crate) const STANDARD: &str = "";
pub(crate) const FUSED: &str = "com.microsoft";
const STANDARD_OPSET: u64 = 17;
const FUSED_OPSET: u64 = 1;

/// A graph under construction.
#[derive(Default)]
pub(crate) struct Graph(Vec<u8>);

pub(crate) enum Attribute {
    Float(&'static str, f32),
    Integer(&'static str, usize),
    Integers(&'static str, &'static [u64]),
    Text(&'static str, &'static str),
}

/// Element types of inputs and outputs.
#[derive(Clone, Copy)]
pub(crate) enum Element {
    Float,
    Int32,
}

/// An operator: its domain and name.
pub(crate) struct Operator(pub(crate) &'static str, pub(crate) &'static str);

impl Graph {
    pub(crate) fn node(
        &mut self,
        Operator(domain, operator): Operator,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[Attribute],
    ) {
        let mut node = Vec::new();
        inputs.iter().for_each(|it| bytes(&mut node, 1, it.as_bytes()));
        outputs.iter().for_each(|it| bytes(&mut node, 2, it.as_bytes()));
        bytes(&mut node, 4, operator.as_bytes());
        attributes.iter().for_each(|it| bytes(&mut node, 5, &it.encoded()));
        bytes(&mut node, 7, domain.as_bytes());
        bytes(&mut self.0, 1, &node);
    }

    pub(crate) fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let mut tensor = Vec::with_capacity(values.len() * 4 + 64);
        shape.iter().for_each(|it| number(&mut tensor, 1, *it as u64));
        number(&mut tensor, 2, FLOAT);
        bytes(&mut tensor, 8, name.as_bytes());
        let raw: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        bytes(&mut tensor, 9, &raw);
        bytes(&mut self.0, 5, &tensor);
    }

    /// Adds a list of integers, such as a shape.
    pub(crate) fn integers(&mut self, name: &str, values: &[i64]) {
        let mut tensor = Vec::new();
        number(&mut tensor, 1, values.len() as u64);
        number(&mut tensor, 2, INT64);
        bytes(&mut tensor, 8, name.as_bytes());
        let raw: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        bytes(&mut tensor, 9, &raw);
        bytes(&mut self.0, 5, &tensor);
    }

    /// Adds an input, with a name for each dimension.
    pub(crate) fn input(&mut self, name: &str, element: Element, sizes: &[&str]) {
        bytes(&mut self.0, 11, &value(name, element, sizes));
    }

    /// Adds a float output, with a name for each dimension.
    pub(crate) fn output(&mut self, name: &str, sizes: &[&str]) {
        bytes(&mut self.0, 12, &value(name, Element::Float, sizes));
    }

    /// Returns the complete file.
    pub(crate) fn file(mut self, name: &str) -> Vec<u8> {
        bytes(&mut self.0, 2, name.as_bytes());
        let mut file = Vec::with_capacity(self.0.len() + 64);
        number(&mut file, 1, IR_VERSION);
        bytes(&mut file, 7, &self.0);
        for (domain, version) in [(STANDARD, STANDARD_OPSET), (FUSED, FUSED_OPSET)] {
            let mut set = Vec::new();
            bytes(&mut set, 1, domain.as_bytes());
            number(&mut set, 2, version);
            bytes(&mut file, 8, &set);
        }
        file
    }
}

impl Attribute {
    fn encoded(&self) -> Vec<u8> {
        const KIND_FLOAT: u64 = 1;
        const KIND_INTEGER: u64 = 2;
        const KIND_TEXT: u64 = 3;
        const KIND_INTEGERS: u64 = 7;
        let mut encoded = Vec::new();
        match self {
            Attribute::Float(name, value) => {
                bytes(&mut encoded, 1, name.as_bytes());
                // A little-endian 32-bit float.
                variable(&mut encoded, 2 << 3 | 5);
                encoded.extend_from_slice(&value.to_le_bytes());
                number(&mut encoded, 20, KIND_FLOAT);
            }
            Attribute::Integer(name, value) => {
                bytes(&mut encoded, 1, name.as_bytes());
                number(&mut encoded, 3, *value as u64);
                number(&mut encoded, 20, KIND_INTEGER);
            }
            Attribute::Integers(name, values) => {
                bytes(&mut encoded, 1, name.as_bytes());
                values.iter().for_each(|it| number(&mut encoded, 8, *it));
                number(&mut encoded, 20, KIND_INTEGERS);
            }
            Attribute::Text(name, value) => {
                bytes(&mut encoded, 1, name.as_bytes());
                bytes(&mut encoded, 4, value.as_bytes());
                number(&mut encoded, 20, KIND_TEXT);
            }
        }
        encoded
    }
}

/// A name with an element type and dynamic dimensions.
fn value(name: &str, element: Element, sizes: &[&str]) -> Vec<u8> {
    let element = match element {
        Element::Float => FLOAT,
        Element::Int32 => INT32,
    };
    let mut shape = Vec::new();
    for size in sizes {
        let mut dimension = Vec::new();
        bytes(&mut dimension, 2, size.as_bytes());
        bytes(&mut shape, 1, &dimension);
    }
    let mut tensor = Vec::new();
    number(&mut tensor, 1, element);
    bytes(&mut tensor, 2, &shape);
    let mut kind = Vec::new();
    bytes(&mut kind, 1, &tensor);
    let mut value = Vec::new();
    bytes(&mut value, 1, name.as_bytes());
    bytes(&mut value, 2, &kind);
    value
}

fn number(message: &mut Vec<u8>, field: u64, value: u64) {
    variable(message, field << 3);
    variable(message, value);
}

fn bytes(message: &mut Vec<u8>, field: u64, value: &[u8]) {
    variable(message, field << 3 | 2);
    variable(message, value.len() as u64);
    message.extend_from_slice(value);
}

/// A varint: seven bits per byte, lowest first; the highest bit means that more follow.
fn variable(message: &mut Vec<u8>, mut value: u64) {
    while 0x80 <= value {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
