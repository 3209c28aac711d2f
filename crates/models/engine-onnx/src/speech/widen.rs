//! Rewrites a half-precision graph to compute in single precision.
//!
//! On a CPU the runtime computes in single precision anyway and rounds every result back to half.
//! For some short sentences an intermediate value overflows, and the whole audio becomes NaN. In
//! single precision the work is the same and nothing overflows. The protobuf message itself is
//! rewritten: the types of tensors and casts, and the values of the weights.

use half::f16;

use wire::{MalformedGraph, ProtobufField, read_fields};

mod wire;

/// Returns the graph with every half-precision type and value widened.
pub(super) fn widen_model(model: &[u8]) -> Result<Vec<u8>, MalformedGraph> {
    let mut wide = Vec::with_capacity(2 * model.len());
    for field in read_fields(model) {
        match field? {
            ProtobufField::Bytes { number: MODEL_GRAPH, value } => {
                wire::put_bytes(&mut wide, MODEL_GRAPH, &widen_graph(value)?);
            }
            other => other.write_to(&mut wide),
        }
    }
    Ok(wide)
}

// Field numbers of the ONNX schema.
const MODEL_GRAPH: u64 = 7;
const GRAPH_NODE: u64 = 1;
const GRAPH_INITIALIZER: u64 = 5;
const GRAPH_INPUT: u64 = 11;
const GRAPH_OUTPUT: u64 = 12;
const GRAPH_VALUE_INFO: u64 = 13;
const NODE_OP_TYPE: u64 = 4;
const NODE_ATTRIBUTE: u64 = 5;
const ATTRIBUTE_NAME: u64 = 1;
const ATTRIBUTE_INTEGER: u64 = 3;
const ATTRIBUTE_TENSOR: u64 = 5;
const ATTRIBUTE_GRAPH: u64 = 6;
const TENSOR_TYPE: u64 = 2;
const TENSOR_RAW: u64 = 9;
const VALUE_TYPE: u64 = 2;
const TYPE_TENSOR: u64 = 1;
const TENSOR_TYPE_ELEMENT: u64 = 1;
// Numbers of the element types.
const SINGLE: u64 = 1;
const HALF: u64 = 10;

fn widen_graph(graph: &[u8]) -> Result<Vec<u8>, MalformedGraph> {
    let mut wide = Vec::with_capacity(2 * graph.len());
    for field in read_fields(graph) {
        match field? {
            ProtobufField::Bytes { number: GRAPH_NODE, value } => {
                wire::put_bytes(&mut wide, GRAPH_NODE, &widen_node(value)?);
            }
            ProtobufField::Bytes { number: GRAPH_INITIALIZER, value } => {
                wire::put_bytes(&mut wide, GRAPH_INITIALIZER, &widen_tensor(value)?);
            }
            ProtobufField::Bytes { number: number @ (GRAPH_INPUT | GRAPH_OUTPUT), value } => {
                wire::put_bytes(&mut wide, number, &widen_value_info(value)?);
            }
            // Types of intermediate values are dropped; the runtime infers them again.
            ProtobufField::Bytes { number: GRAPH_VALUE_INFO, .. } => {}
            other => other.write_to(&mut wide),
        }
    }
    Ok(wide)
}

fn widen_node(node: &[u8]) -> Result<Vec<u8>, MalformedGraph> {
    let mut is_cast = false;
    for field in read_fields(node) {
        if let ProtobufField::Bytes { number: NODE_OP_TYPE, value } = field? {
            is_cast = value == b"Cast";
        }
    }
    rewrite_field(node, NODE_ATTRIBUTE, |value| widen_attribute(value, is_cast))
}

fn widen_attribute(attribute: &[u8], of_cast: bool) -> Result<Vec<u8>, MalformedGraph> {
    let mut names_type = false;
    for field in read_fields(attribute) {
        if let ProtobufField::Bytes { number: ATTRIBUTE_NAME, value } = field? {
            names_type = of_cast && value == b"to";
        }
    }
    let mut wide = Vec::with_capacity(attribute.len());
    for field in read_fields(attribute) {
        match field? {
            ProtobufField::Varint { number: ATTRIBUTE_INTEGER, value: HALF } if names_type => {
                wire::put_varint(&mut wide, ATTRIBUTE_INTEGER, SINGLE);
            }
            ProtobufField::Bytes { number: ATTRIBUTE_TENSOR, value } => {
                wire::put_bytes(&mut wide, ATTRIBUTE_TENSOR, &widen_tensor(value)?);
            }
            ProtobufField::Bytes { number: ATTRIBUTE_GRAPH, value } => {
                wire::put_bytes(&mut wide, ATTRIBUTE_GRAPH, &widen_graph(value)?);
            }
            other => other.write_to(&mut wide),
        }
    }
    Ok(wide)
}

fn widen_tensor(tensor: &[u8]) -> Result<Vec<u8>, MalformedGraph> {
    let mut is_half = false;
    for field in read_fields(tensor) {
        if let ProtobufField::Varint { number: TENSOR_TYPE, value } = field? {
            is_half = value == HALF;
        }
    }
    if !is_half {
        return Ok(tensor.to_vec());
    }
    let mut wide = Vec::with_capacity(2 * tensor.len());
    for field in read_fields(tensor) {
        match field? {
            ProtobufField::Varint { number: TENSOR_TYPE, .. } => {
                wire::put_varint(&mut wide, TENSOR_TYPE, SINGLE);
            }
            ProtobufField::Bytes { number: TENSOR_RAW, value } => {
                wire::put_bytes(&mut wide, TENSOR_RAW, &widen_values(value));
            }
            other => other.write_to(&mut wide),
        }
    }
    Ok(wide)
}

fn widen_values(halves: &[u8]) -> Vec<u8> {
    let (halves, _) = halves.as_chunks::<2>();
    halves.iter().flat_map(|it| f16::from_le_bytes(*it).to_f32().to_le_bytes()).collect()
}

fn widen_value_info(value: &[u8]) -> Result<Vec<u8>, MalformedGraph> {
    rewrite_field(value, VALUE_TYPE, |kind| {
        rewrite_field(kind, TYPE_TENSOR, |tensor| {
            let mut wide = Vec::with_capacity(tensor.len());
            for field in read_fields(tensor) {
                match field? {
                    ProtobufField::Varint { number: TENSOR_TYPE_ELEMENT, value: HALF } => {
                        wire::put_varint(&mut wide, TENSOR_TYPE_ELEMENT, SINGLE);
                    }
                    other => other.write_to(&mut wide),
                }
            }
            Ok(wide)
        })
    })
}

/// Rewrites every occurrence of one field of a message.
fn rewrite_field(
    message: &[u8],
    number: u64,
    rewrite: impl Fn(&[u8]) -> Result<Vec<u8>, MalformedGraph>,
) -> Result<Vec<u8>, MalformedGraph> {
    let mut written = Vec::with_capacity(message.len());
    for field in read_fields(message) {
        match field? {
            ProtobufField::Bytes { number: found, value } if found == number => {
                wire::put_bytes(&mut written, number, &rewrite(value)?);
            }
            other => other.write_to(&mut written),
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(number: u64, value: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        wire::put_bytes(&mut message, number, value);
        message
    }

    fn varint(number: u64, value: u64) -> Vec<u8> {
        let mut message = Vec::new();
        wire::put_varint(&mut message, number, value);
        message
    }

    /// A graph with a weight of two values, and a cast to its type.
    fn model(element: u64, weights: &[u8]) -> Vec<u8> {
        let weight = [varint(TENSOR_TYPE, element), bytes(8, b"w"), bytes(TENSOR_RAW, weights)];
        let to = [bytes(ATTRIBUTE_NAME, b"to"), varint(ATTRIBUTE_INTEGER, element)].concat();
        let cast = [bytes(NODE_OP_TYPE, b"Cast"), bytes(NODE_ATTRIBUTE, &to)].concat();
        let graph = [bytes(GRAPH_NODE, &cast), bytes(GRAPH_INITIALIZER, &weight.concat())].concat();
        [varint(1, 9), bytes(MODEL_GRAPH, &graph)].concat()
    }

    #[test]
    fn weights_and_casts_become_single() {
        let halves: Vec<u8> =
            [1.5, -0.25].iter().flat_map(|it| f16::from_f32(*it).to_le_bytes()).collect();
        let singles: Vec<u8> = [1.5f32, -0.25].iter().flat_map(|it| it.to_le_bytes()).collect();
        assert_eq!(widen_model(&model(HALF, &halves)).unwrap(), model(SINGLE, &singles));
    }

    #[test]
    fn what_is_single_already_stays() {
        let model = model(SINGLE, &[0; 8]);
        assert_eq!(widen_model(&model).unwrap(), model);
    }

    #[test]
    fn a_truncated_file_is_refused() {
        let model = model(HALF, &[0; 4]);
        assert!(widen_model(&model[..model.len() - 1]).is_err());
        assert!(widen_model(&[0xff; 12]).is_err());
    }
}
