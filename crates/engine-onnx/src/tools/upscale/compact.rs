//! The compact network of Real-ESRGAN (realesr-animevideov3): eighteen convolutions, added to the
//! enlarged input. Its weights are embedded in the binary; `weights/` documents their origin.

use crate::onnx_file::{Attribute, Element, Graph, Operator, STANDARD};
use crate::tensors::Tensors;

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

pub(super) fn graph() -> Result<Vec<u8>, String> {
    let tensors = Tensors::parse(WEIGHTS)?;
    let mut graph = Graph::default();
    graph.input(PICTURE, Element::Float, &SIZES);
    let mut state = PICTURE.to_owned();
    for number in 0..CONVOLUTIONS {
        let is_last = number + 1 == CONVOLUTIONS;
        let inputs = if number == 0 { 3 } else { CHANNELS };
        let outputs = if is_last { OUTPUTS } else { CHANNELS };
        state = convolution(&mut graph, &tensors, (number, &state), [inputs, outputs])?;
        if !is_last {
            state = bend(&mut graph, &tensors, number, &state)?;
        }
    }
    let spread = [Attribute::Integer("blocksize", FACTOR), Attribute::Text("mode", "CRD")];
    graph.node(Operator(STANDARD, "DepthToSpace"), &[&state], &["detail"], &spread);
    // The network predicts the difference to nearest-neighbour enlargement.
    graph.constant("scales", &[4], &[1.0, 1.0, FACTOR as f32, FACTOR as f32]);
    let plain = [
        Attribute::Text("mode", "nearest"),
        Attribute::Text("coordinate_transformation_mode", "asymmetric"),
        Attribute::Text("nearest_mode", "floor"),
    ];
    graph.node(Operator(STANDARD, "Resize"), &[PICTURE, "", "scales"], &["plain"], &plain);
    graph.node(Operator(STANDARD, "Add"), &["detail", "plain"], &[LARGER], &[]);
    graph.output(LARGER, &SIZES);
    Ok(graph.file("compact"))
}

fn convolution(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    (number, input): (usize, &str),
    [inputs, outputs]: [usize; 2],
) -> Result<String, String> {
    let (weight, bias) = (format!("conv.{number}.weight"), format!("conv.{number}.bias"));
    let shape = [outputs, inputs, 3, 3];
    graph.constant(&weight, &shape, &tensors.matrix(&weight, &shape)?.values);
    graph.constant(&bias, &[outputs], &tensors.matrix(&bias, &[outputs])?.values);
    let output = format!("state.{number}");
    let attributes =
        [Attribute::Integers("kernel_shape", &[3, 3]), Attribute::Integers("pads", &[1, 1, 1, 1])];
    graph.node(Operator(STANDARD, "Conv"), &[input, &weight, &bias], &[&output], &attributes);
    Ok(output)
}

/// PReLU: negative values are scaled, per channel.
fn bend(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    number: usize,
    input: &str,
) -> Result<String, String> {
    let slope = format!("slope.{number}");
    graph.constant(&slope, &[CHANNELS, 1, 1], &tensors.matrix(&slope, &[CHANNELS])?.values);
    let output = format!("bent.{number}");
    graph.node(Operator(STANDARD, "PRelu"), &[input, &slope], &[&output], &[]);
    Ok(output)
}
