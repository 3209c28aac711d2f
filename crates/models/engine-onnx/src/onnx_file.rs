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
pub(crate) struct OnnxGraph(Vec<u8>);

pub(crate) enum NodeAttribute {
    Float(&'static str, f32),
    Integer(&'static str, usize),
    Integers(&'static str, &'static [u64]),
    Text(&'static str, &'static str),
}

/// Element types of inputs and outputs.
#[derive(Clone, Copy)]
pub(crate) enum ElementType {
    Float,
    Int32,
}

/// An operator: its domain and name.
pub(crate) struct OnnxOperator(pub(crate) &'static str, pub(crate) &'static str);

impl OnnxGraph {
    pub(crate) fn add_node(
        &mut self,
        OnnxOperator(domain, operator): OnnxOperator,
        inputs: &[&str],
        outputs: &[&str],
        attributes: &[NodeAttribute],
    ) {
        let mut node = Vec::new();
        inputs.iter().for_each(|it| push_bytes(&mut node, 1, it.as_bytes()));
        outputs.iter().for_each(|it| push_bytes(&mut node, 2, it.as_bytes()));
        push_bytes(&mut node, 4, operator.as_bytes());
        attributes.iter().for_each(|it| push_bytes(&mut node, 5, &it.encode()));
        push_bytes(&mut node, 7, domain.as_bytes());
        push_bytes(&mut self.0, 1, &node);
    }

    pub(crate) fn add_constant(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let mut tensor = Vec::with_capacity(values.len() * 4 + 64);
        shape.iter().for_each(|it| push_number(&mut tensor, 1, *it as u64));
        push_number(&mut tensor, 2, FLOAT);
        push_bytes(&mut tensor, 8, name.as_bytes());
        let raw: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        push_bytes(&mut tensor, 9, &raw);
        push_bytes(&mut self.0, 5, &tensor);
    }

    /// Adds a list of integers, such as a shape.
    pub(crate) fn add_integers(&mut self, name: &str, values: &[i64]) {
        let mut tensor = Vec::new();
        push_number(&mut tensor, 1, values.len() as u64);
        push_number(&mut tensor, 2, INT64);
        push_bytes(&mut tensor, 8, name.as_bytes());
        let raw: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        push_bytes(&mut tensor, 9, &raw);
        push_bytes(&mut self.0, 5, &tensor);
    }

    /// Adds an input, with a name for each dimension.
    pub(crate) fn add_input(&mut self, name: &str, element: ElementType, sizes: &[&str]) {
        push_bytes(&mut self.0, 11, &encode_value_info(name, element, sizes));
    }

    /// Adds a float output, with a name for each dimension.
    pub(crate) fn add_output(&mut self, name: &str, sizes: &[&str]) {
        push_bytes(&mut self.0, 12, &encode_value_info(name, ElementType::Float, sizes));
    }

    /// Returns the complete file.
    pub(crate) fn into_file(mut self, name: &str) -> Vec<u8> {
        push_bytes(&mut self.0, 2, name.as_bytes());
        let mut file = Vec::with_capacity(self.0.len() + 64);
        push_number(&mut file, 1, IR_VERSION);
        push_bytes(&mut file, 7, &self.0);
        for (domain, version) in [(STANDARD, STANDARD_OPSET), (FUSED, FUSED_OPSET)] {
            let mut set = Vec::new();
            push_bytes(&mut set, 1, domain.as_bytes());
            push_number(&mut set, 2, version);
            push_bytes(&mut file, 8, &set);
        }
        file
    }
}

impl NodeAttribute {
    fn encode(&self) -> Vec<u8> {
        const KIND_FLOAT: u64 = 1;
        const KIND_INTEGER: u64 = 2;
        const KIND_TEXT: u64 = 3;
        const KIND_INTEGERS: u64 = 7;
        let mut encoded = Vec::new();
        match self {
            NodeAttribute::Float(name, value) => {
                push_bytes(&mut encoded, 1, name.as_bytes());
                // A little-endian 32-bit float.
                push_varint(&mut encoded, 2 << 3 | 5);
                encoded.extend_from_slice(&value.to_le_bytes());
                push_number(&mut encoded, 20, KIND_FLOAT);
            }
            NodeAttribute::Integer(name, value) => {
                push_bytes(&mut encoded, 1, name.as_bytes());
                push_number(&mut encoded, 3, *value as u64);
                push_number(&mut encoded, 20, KIND_INTEGER);
            }
            NodeAttribute::Integers(name, values) => {
                push_bytes(&mut encoded, 1, name.as_bytes());
                values.iter().for_each(|it| push_number(&mut encoded, 8, *it));
                push_number(&mut encoded, 20, KIND_INTEGERS);
            }
            NodeAttribute::Text(name, value) => {
                push_bytes(&mut encoded, 1, name.as_bytes());
                push_bytes(&mut encoded, 4, value.as_bytes());
                push_number(&mut encoded, 20, KIND_TEXT);
            }
        }
        encoded
    }
}

/// A name with an element type and dynamic dimensions.
fn encode_value_info(name: &str, element: ElementType, sizes: &[&str]) -> Vec<u8> {
    let element = match element {
        ElementType::Float => FLOAT,
        ElementType::Int32 => INT32,
    };
    let mut shape = Vec::new();
    for size in sizes {
        let mut dimension = Vec::new();
        push_bytes(&mut dimension, 2, size.as_bytes());
        push_bytes(&mut shape, 1, &dimension);
    }
    let mut tensor = Vec::new();
    push_number(&mut tensor, 1, element);
    push_bytes(&mut tensor, 2, &shape);
    let mut kind = Vec::new();
    push_bytes(&mut kind, 1, &tensor);
    let mut value = Vec::new();
    push_bytes(&mut value, 1, name.as_bytes());
    push_bytes(&mut value, 2, &kind);
    value
}

fn push_number(message: &mut Vec<u8>, field: u64, value: u64) {
    push_varint(message, field << 3);
    push_varint(message, value);
}

fn push_bytes(message: &mut Vec<u8>, field: u64, value: &[u8]) {
    push_varint(message, field << 3 | 2);
    push_varint(message, value.len() as u64);
    message.extend_from_slice(value);
}

/// A varint: seven bits per byte, lowest first; the highest bit means that more follow.
fn push_varint(message: &mut Vec<u8>, mut value: u64) {
    while 0x80 <= value {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
