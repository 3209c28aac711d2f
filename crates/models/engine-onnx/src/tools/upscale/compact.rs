//! The compact network of Real-ESRGAN (realesr-animevideov3): eighteen convolutions, added to the
//! enlarged input. Its weights are embedded in the binary; `weights/` documents their origin.

use crate::onnx_file::{ElementType, NodeAttribute, OnnxGraph, OnnxOperator, STANDARD};
use crate::tensors::NamedTensors;

static WEIGHTS: &[u8] = include_bytes!("../../../weights/compact.f16.safetensors");

pub(super) const PICTURE: &str = "picture";
pub(super) const LARGER: &str = "larger";
pub(super) const FACTOR: usize = 4;
/// Radius of the receptive field in pixels: one per convolution.
pub(super) const REACH: usize = CONVOLUTIONS;

const CONVOLUTIONS: usize = 18;
const CHANNELS: usize = 64;
/// Channels that hold the output pixels of each input pixel.
const OUTPUTS: usize = 3 * FACTOR * FACTOR;
const SIZES: [&str; 4] = ["rows", "channels", "height", "width"];

pub(super) fn build_graph() -> Result<Vec<u8>, String> {
    let tensors = NamedTensors::parse(WEIGHTS)?;
    let mut graph = OnnxGraph::default();
    graph.add_input(PICTURE, ElementType::Float, &SIZES);
    let mut state = PICTURE.to_owned();
    for number in 0..CONVOLUTIONS {
        let is_last = number + 1 == CONVOLUTIONS;
        let inputs = if number == 0 { 3 } else { CHANNELS };
        let outputs = if is_last { OUTPUTS } else { CHANNELS };
        state = add_convolution(&mut graph, &tensors, number, &state, [inputs, outputs])?;
        if !is_last {
            state = add_prelu(&mut graph, &tensors, number, &state)?;
        }
    }
    let spread = [NodeAttribute::Integer("blocksize", FACTOR), NodeAttribute::Text("mode", "CRD")];
    graph.add_node(OnnxOperator(STANDARD, "DepthToSpace"), &[&state], &["detail"], &spread);
    // The network predicts the difference to nearest-neighbour enlargement.
    graph.add_constant("scales", &[4], &[1.0, 1.0, FACTOR as f32, FACTOR as f32]);
    let plain = [
        NodeAttribute::Text("mode", "nearest"),
        NodeAttribute::Text("coordinate_transformation_mode", "asymmetric"),
        NodeAttribute::Text("nearest_mode", "floor"),
    ];
    graph.add_node(OnnxOperator(STANDARD, "Resize"), &[PICTURE, "", "scales"], &["plain"], &plain);
    graph.add_node(OnnxOperator(STANDARD, "Add"), &["detail", "plain"], &[LARGER], &[]);
    graph.add_output(LARGER, &SIZES);
    Ok(graph.into_file("compact"))
}

fn add_convolution(
    graph: &mut OnnxGraph,
    tensors: &NamedTensors<'_>,
    number: usize,
    input: &str,
    [inputs, outputs]: [usize; 2],
) -> Result<String, String> {
    let (weight, bias) = (format!("conv.{number}.weight"), format!("conv.{number}.bias"));
    let shape = [outputs, inputs, 3, 3];
    graph.add_constant(&weight, &shape, &tensors.read_matrix(&weight, &shape)?.values);
    graph.add_constant(&bias, &[outputs], &tensors.read_matrix(&bias, &[outputs])?.values);
    let output = format!("state.{number}");
    let attributes = [
        NodeAttribute::Integers("kernel_shape", &[3, 3]),
        NodeAttribute::Integers("pads", &[1, 1, 1, 1]),
    ];
    graph.add_node(
        OnnxOperator(STANDARD, "Conv"),
        &[input, &weight, &bias],
        &[&output],
        &attributes,
    );
    Ok(output)
}

/// PReLU: negative values are scaled, per channel.
fn add_prelu(
    graph: &mut OnnxGraph,
    tensors: &NamedTensors<'_>,
    number: usize,
    input: &str,
) -> Result<String, String> {
    let slope = format!("slope.{number}");
    graph.add_constant(
        &slope,
        &[CHANNELS, 1, 1],
        &tensors.read_matrix(&slope, &[CHANNELS])?.values,
    );
    let output = format!("bent.{number}");
    graph.add_node(OnnxOperator(STANDARD, "PRelu"), &[input, &slope], &[&output], &[]);
    Ok(output)
}
