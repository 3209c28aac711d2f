//! The generator: a transformer that predicts the velocity from noise to an image.
//!
//! The latent is divided into 16 × 16 patches, which form one sequence with the prompt's tokens.
//! Time and pooled prompt scale and shift the input of each layer. Weights that were distilled for
//! guidance take it as an input and need only one run per step.

use ort::session::Session;

use super::layers::LayerBuilder;
use super::{PATCH, PATCHES, PATCHES_SIDE, PictorError, TEXT_TOKENS, TEXT_WIDTH};
use crate::onnx_file::{ElementType, FUSED, NodeAttribute, OnnxOperator, STANDARD};
use crate::runtime::OnnxRuntime;
use crate::tensors::NamedTensors;

pub(super) const PATCHES_IN: &str = "patches";
pub(super) const TIME: &str = "time";
pub(super) const STATES: &str = "states";
pub(super) const MASK: &str = "mask";
pub(super) const POOLED: &str = "prompt";
pub(super) const GUIDANCE: &str = "guidance";
pub(super) const VELOCITY: &str = "velocity";

/// Length of the embeddings of time and guidance.
pub(super) const FEATURES: usize = 256;

const WIDTH: usize = 512;
const BLOCKS: usize = 9;
const HEADS: usize = 8;
const HEAD: usize = WIDTH / HEADS;
/// Scale, shift and gate of each of a block's two branches.
const MODULATIONS: usize = 6;
/// Base of the rotary position embedding.
const ROTATION_BASE: f32 = 100.0;

const ONE: &str = "one";
const ONES: &str = "ones";
const COSINES: &str = "cosines";
const SINES: &str = "sines";
const FROM_FIRST: &str = "from.first";
const SPLIT_HEADS: &str = "split.heads";
const JOIN_HEADS: &str = "join.heads";

pub(super) struct VelocityGenerator {
    pub(super) session: Session,
    /// True if the weights take [`GUIDANCE`] as an input.
    pub(super) takes_guidance: bool,
}

impl VelocityGenerator {
    pub(super) fn load(
        runtime: &OnnxRuntime,
        weights: &[u8],
    ) -> Result<VelocityGenerator, PictorError> {
        let tensors = NamedTensors::parse(weights).map_err(PictorError::Weights)?;
        let takes_guidance = tensors.has_tensor("w2.bias");
        let graph = build_graph(&tensors, takes_guidance).map_err(PictorError::Weights)?;
        let session = runtime.session_builder()?.commit_from_memory(&graph)?;
        Ok(VelocityGenerator { session, takes_guidance })
    }
}

fn build_graph(tensors: &NamedTensors<'_>, takes_guidance: bool) -> Result<Vec<u8>, String> {
    let mut layers = LayerBuilder::new(tensors);
    add_inputs(&mut layers, takes_guidance);
    add_constants(&mut layers);
    let condition = add_condition(&mut layers, takes_guidance)?;
    let shared = layers.add_linear("mod", &condition, [WIDTH, MODULATIONS * WIDTH])?;
    layers.graph.add_integers("modulations", &[-1, MODULATIONS as i64, WIDTH as i64]);
    let shared = layers.add_standard("Reshape", &[&shared, "modulations"]);
    let mut sequence = add_sequence(&mut layers)?;
    for block in 0..BLOCKS {
        sequence = add_block(&mut layers, &format!("blocks.{block}"), &sequence, &shared)?;
    }
    let velocity = add_head(&mut layers, &sequence, &condition)?;
    Ok(layers.finish(&velocity, VELOCITY, &["rows", "patches", "patch"], "generator"))
}

fn add_inputs(layers: &mut LayerBuilder<'_>, takes_guidance: bool) {
    let graph = &mut layers.graph;
    graph.add_input(PATCHES_IN, ElementType::Float, &["rows", "patches", "patch"]);
    graph.add_input(TIME, ElementType::Float, &["rows", "features"]);
    graph.add_input(STATES, ElementType::Float, &["rows", "tokens", "text"]);
    graph.add_input(MASK, ElementType::Float, &["rows", "tokens", "one"]);
    graph.add_input(POOLED, ElementType::Float, &["rows", "text"]);
    if takes_guidance {
        graph.add_input(GUIDANCE, ElementType::Float, &["rows", "features"]);
    }
}

fn add_constants(layers: &mut LayerBuilder<'_>) {
    let graph = &mut layers.graph;
    graph.add_constant(ONE, &[1], &[1.0]);
    graph.add_constant(ONES, &[WIDTH], &[1.0; WIDTH]);
    graph.add_integers(FROM_FIRST, &[0]);
    graph.add_integers(SPLIT_HEADS, &[0, 0, HEADS as i64, HEAD as i64]);
    graph.add_integers(JOIN_HEADS, &[0, 0, WIDTH as i64]);
    let (cosines, sines): (Vec<f32>, Vec<f32>) =
        rotation_angles().into_iter().map(|angle| (angle.cos(), angle.sin())).unzip();
    let shape = [PATCHES + TEXT_TOKENS, HEAD / 2];
    graph.add_constant(COSINES, &shape, &cosines);
    graph.add_constant(SINES, &shape, &sines);
}

/// Rotation angles per position: half of the pairs by row, half by column. Prompt tokens are not
/// rotated.
fn rotation_angles() -> Vec<f32> {
    const SPEEDS: usize = HEAD / 4;
    let speed = |at: usize| ROTATION_BASE.powf(-(at as f32) / SPEEDS as f32);
    let mut angles = Vec::with_capacity((PATCHES + TEXT_TOKENS) * HEAD / 2);
    for patch in 0..PATCHES {
        for place in [patch / PATCHES_SIDE, patch % PATCHES_SIDE] {
            angles.extend((0..SPEEDS).map(|at| place as f32 * speed(at)));
        }
    }
    angles.resize((PATCHES + TEXT_TOKENS) * HEAD / 2, 0.0);
    angles
}

/// Time, pooled prompt and guidance as one vector.
fn add_condition(layers: &mut LayerBuilder<'_>, takes_guidance: bool) -> Result<String, String> {
    let time = project_embedding(layers, ["t1", "t2"], TIME)?;
    let prompt = layers.add_linear("pooled", POOLED, [TEXT_WIDTH, WIDTH])?;
    let mut sum = layers.add_standard("Add", &[&time, &prompt]);
    if takes_guidance {
        let guidance = project_embedding(layers, ["w1", "w2"], GUIDANCE)?;
        sum = layers.add_standard("Add", &[&sum, &guidance]);
    }
    Ok(layers.add_silu(&sum))
}

/// Projects an embedded number to a vector.
fn project_embedding(
    layers: &mut LayerBuilder<'_>,
    [one, two]: [&str; 2],
    input: &str,
) -> Result<String, String> {
    let wide = layers.add_linear(one, input, [FEATURES, WIDTH])?;
    let wide = layers.add_silu(&wide);
    layers.add_linear(two, &wide, [WIDTH, WIDTH])
}

/// The sequence: patches with position embeddings, then the prompt's tokens.
fn add_sequence(layers: &mut LayerBuilder<'_>) -> Result<String, String> {
    let patches = layers.add_linear("inp", PATCHES_IN, [PATCH, WIDTH])?;
    layers.add_stored("pos", &[PATCHES, WIDTH])?;
    let patches = layers.add_standard("Add", &[&patches, "pos"]);
    let words = layers.add_linear("text", STATES, [TEXT_WIDTH, WIDTH])?;
    layers.add_stored("pad", &[WIDTH])?;
    let words = layers.add_standard("Sub", &[&words, "pad"]);
    let words = layers.add_standard("Mul", &[&words, MASK]);
    let words = layers.add_standard("Add", &[&words, "pad"]);
    let along = [NodeAttribute::Integer("axis", 1)];
    Ok(layers.add_node(OnnxOperator(STANDARD, "Concat"), &[&patches, &words], &along))
}

/// One block: attention and two dense layers, each scaled, shifted and gated.
fn add_block(
    layers: &mut LayerBuilder<'_>,
    name: &str,
    input: &str,
    shared: &str,
) -> Result<String, String> {
    let table = format!("{name}.table");
    layers.add_stored(&table, &[MODULATIONS, WIDTH])?;
    let modulation = layers.add_standard("Add", &[shared, &table]);
    let parts: [String; MODULATIONS] = std::array::from_fn(|_| layers.next_name());
    let [scale, shift, gate, wide_scale, wide_shift, wide_gate] = parts.each_ref();
    let outputs = parts.each_ref().map(String::as_str);
    let along = [NodeAttribute::Integer("axis", 1)];
    layers.graph.add_node(OnnxOperator(STANDARD, "Split"), &[&modulation], &outputs, &along);

    let normal = add_modulated_norm(layers, input, scale, shift);
    let attended = add_attention(layers, name, &normal)?;
    let attended = layers.add_product(&format!("{name}.proj"), &attended, [WIDTH, WIDTH])?;
    let attended = layers.add_standard("Mul", &[&attended, gate]);
    let middle = layers.add_standard("Add", &[input, &attended]);

    let normal = add_modulated_norm(layers, &middle, wide_scale, wide_shift);
    let wide = layers.add_product(&format!("{name}.fc1"), &normal, [WIDTH, 4 * WIDTH])?;
    let bias = format!("{name}.fc1.bias");
    layers.add_stored(&bias, &[4 * WIDTH])?;
    let wide = layers.add_node(OnnxOperator(FUSED, "FastGelu"), &[&wide, &bias], &[]);
    let narrow = layers.add_linear(&format!("{name}.fc2"), &wide, [4 * WIDTH, WIDTH])?;
    let narrow = layers.add_standard("Mul", &[&narrow, wide_gate]);
    Ok(layers.add_standard("Add", &[&middle, &narrow]))
}

fn add_modulated_norm(
    layers: &mut LayerBuilder<'_>,
    input: &str,
    scale: &str,
    shift: &str,
) -> String {
    let normal = layers.add_standard("LayerNormalization", &[input, ONES]);
    let scale = layers.add_standard("Add", &[scale, ONE]);
    let scaled = layers.add_standard("Mul", &[&normal, &scale]);
    layers.add_standard("Add", &[&scaled, shift])
}

fn add_attention(layers: &mut LayerBuilder<'_>, name: &str, input: &str) -> Result<String, String> {
    let all = layers.add_product(&format!("{name}.qkv"), input, [WIDTH, 3 * WIDTH])?;
    let parts: [String; 3] = std::array::from_fn(|_| layers.next_name());
    let along = [NodeAttribute::Integer("axis", 2)];
    let outputs = parts.each_ref().map(String::as_str);
    layers.graph.add_node(OnnxOperator(STANDARD, "Split"), &[&all], &outputs, &along);
    let [queries, keys, values] = &parts;
    let queries = rotate_heads(layers, &format!("{name}.q_scale"), queries)?;
    let keys = rotate_heads(layers, &format!("{name}.k_scale"), keys)?;
    let heads = [NodeAttribute::Integer("num_heads", HEADS)];
    Ok(layers.add_node(
        OnnxOperator(FUSED, "MultiHeadAttention"),
        &[&queries, &keys, values],
        &heads,
    ))
}

/// RMS-normalises each head's vector, scales it, and rotates it by its position.
fn rotate_heads(layers: &mut LayerBuilder<'_>, scale: &str, input: &str) -> Result<String, String> {
    layers.add_stored(scale, &[HEAD])?;
    let heads = layers.add_standard("Reshape", &[input, SPLIT_HEADS]);
    let epsilon = [NodeAttribute::Float("epsilon", 1e-6)];
    let normal = OnnxOperator(STANDARD, "SimplifiedLayerNormalization");
    let normal = layers.add_node(normal, &[&heads, scale], &epsilon);
    let joined = layers.add_standard("Reshape", &[&normal, JOIN_HEADS]);
    let inputs = [joined.as_str(), FROM_FIRST, COSINES, SINES];
    Ok(layers.add_node(OnnxOperator(FUSED, "RotaryEmbedding"), &inputs, &[]))
}

/// The velocities of the patches; prompt tokens have none.
fn add_head(
    layers: &mut LayerBuilder<'_>,
    sequence: &str,
    condition: &str,
) -> Result<String, String> {
    let last = layers.add_linear("last", condition, [WIDTH, 2 * WIDTH])?;
    layers.graph.add_integers("last.rows", &[-1, 1, 2 * WIDTH as i64]);
    let last = layers.add_standard("Reshape", &[&last, "last.rows"]);
    let (scale, shift) = (layers.next_name(), layers.next_name());
    let along = [NodeAttribute::Integer("axis", 2)];
    layers.graph.add_node(OnnxOperator(STANDARD, "Split"), &[&last], &[&scale, &shift], &along);
    layers.graph.add_integers("patches.end", &[PATCHES as i64]);
    layers.graph.add_integers("patches.axis", &[1]);
    let cut = [sequence, FROM_FIRST, "patches.end", "patches.axis"];
    let patches = layers.add_standard("Slice", &cut);
    let normal = add_modulated_norm(layers, &patches, &scale, &shift);
    layers.add_linear("out", &normal, [WIDTH, PATCH])
}
