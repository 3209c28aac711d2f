//! Writes a graph in the format of ONNX files: protocol buffers, by the numbers of `onnx.proto`.
//!
//! The runtime can also be given a graph node by node, but computes such a graph half as fast.

/// The version of the format that has everything used here.
const IR_VERSION: u64 = 8;
const FLOAT: u64 = 1;
const INT32: u64 = 6;

/// A graph under construction.
#[derive(Default)]
pub(super) struct Graph(Vec<u8>);

pub(super) enum Attribute {
    Float(&'static str, f32),
    Integer(&'static str, usize),
}

/// An operator: the set that it is of, and its name there.
pub(super) struct Operator(pub(super) &'static str, pub(super) &'static str);

impl Graph {
    pub(super) fn node(
        &mut self,
        Operator(domain, operator): Operator,
        inputs: &[&str],
        outputs: &[&str],
        attribute: Option<Attribute>,
    ) {
        let mut node = Vec::new();
        inputs.iter().for_each(|it| bytes(&mut node, 1, it.as_bytes()));
        outputs.iter().for_each(|it| bytes(&mut node, 2, it.as_bytes()));
        bytes(&mut node, 4, operator.as_bytes());
        if let Some(attribute) = attribute {
            bytes(&mut node, 5, &attribute.encoded());
        }
        bytes(&mut node, 7, domain.as_bytes());
        bytes(&mut self.0, 1, &node);
    }

    pub(super) fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let mut tensor = Vec::with_capacity(values.len() * 4 + 64);
        shape.iter().for_each(|it| number(&mut tensor, 1, *it as u64));
        number(&mut tensor, 2, FLOAT);
        bytes(&mut tensor, 8, name.as_bytes());
        let raw: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        bytes(&mut tensor, 9, &raw);
        bytes(&mut self.0, 5, &tensor);
    }

    /// An input of integers, with a row per text and a column per token.
    pub(super) fn input(&mut self, name: &str) {
        bytes(&mut self.0, 11, &value(name, INT32, &["inputs", "tokens"]));
    }

    /// An output of floats, with a vector per token.
    pub(super) fn output(&mut self, name: &str) {
        bytes(&mut self.0, 12, &value(name, FLOAT, &["inputs", "tokens", "dimensions"]));
    }

    /// The whole file, for the sets of operators and their versions.
    pub(super) fn file(mut self, sets: &[(&str, u64)]) -> Vec<u8> {
        bytes(&mut self.0, 2, b"bert");
        let mut file = Vec::with_capacity(self.0.len() + 64);
        number(&mut file, 1, IR_VERSION);
        bytes(&mut file, 7, &self.0);
        for (domain, version) in sets {
            let mut set = Vec::new();
            bytes(&mut set, 1, domain.as_bytes());
            number(&mut set, 2, *version);
            bytes(&mut file, 8, &set);
        }
        file
    }
}

impl Attribute {
    fn encoded(&self) -> Vec<u8> {
        const KIND_FLOAT: u64 = 1;
        const KIND_INTEGER: u64 = 2;
        let mut encoded = Vec::new();
        match self {
            Attribute::Float(name, value) => {
                bytes(&mut encoded, 1, name.as_bytes());
                // Four bytes that are a float, little end first.
                variable(&mut encoded, 2 << 3 | 5);
                encoded.extend_from_slice(&value.to_le_bytes());
                number(&mut encoded, 20, KIND_FLOAT);
            }
            Attribute::Integer(name, value) => {
                bytes(&mut encoded, 1, name.as_bytes());
                number(&mut encoded, 3, *value as u64);
                number(&mut encoded, 20, KIND_INTEGER);
            }
        }
        encoded
    }
}

/// A name with a type and sizes that are known only when the graph runs.
fn value(name: &str, element: u64, sizes: &[&str]) -> Vec<u8> {
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

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn variable(message: &mut Vec<u8>, mut value: u64) {
    while 0x80 <= value {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
