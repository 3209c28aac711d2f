//! The generator: a transformer that predicts the velocity from noise to an image.
//!
//! The latent is divided into 16 × 16 patches, which form one sequence with the prompt's tokens.
//! Time and pooled prompt scale and shift the input of each layer. Weights that were distilled for
//! guidance take it as an input and need only one run per step.

use ort::session::Session;

use super::layers::Layers;
use super::{PATCH, PATCHES, PATCHES_SIDE, PictorError, TEXT_TOKENS, TEXT_WIDTH};
use crate::onnx_file::{Attribute, Element, FUSED, Operator, STANDARD};
use crate::runtime::Runtime;
use crate::tensors::Tensors;

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

pub(super) struct Generator {
    pub(super) session: Session,
    /// True if the weights take [`GUIDANCE`] as an input.
    pub(super) takes_guidance: bool,
}

impl Generator {
    pub(super) fn load(runtime: &Runtime, weights: &[u8]) -> Result<Generator, PictorError> {
        let tensors = Tensors::parse(weights).map_err(PictorError::Weights)?;
        let takes_guidance = tensors.has("w2.bias");
        let graph = build(&tensors, takes_guidance).map_err(PictorError::Weights)?;
        let session = runtime.builder()?.commit_from_memory(&graph)?;
        Ok(Generator { session, takes_guidance })
    }
}

fn build(tensors: &Tensors<'_>, takes_guidance: bool) -> Result<Vec<u8>, String> {
    let mut layers = Layers::new(tensors);
    inputs(&mut layers, takes_guidance);
    constants(&mut layers);
    let condition = condition(&mut layers, takes_guidance)?;
    let shared = layers.linear("mod", &condition, [WIDTH, MODULATIONS * WIDTH])?;
    layers.graph.integers("modulations", &[-1, MODULATIONS as i64, WIDTH as i64]);
    let shared = layers.standard("Reshape", &[&shared, "modulations"]);
    let mut sequence = sequence(&mut layers)?;
    for block in 0..BLOCKS {
        sequence = transform(&mut layers, &format!("blocks.{block}"), &sequence, &shared)?;
    }
    let velocity = head(&mut layers, &sequence, &condition)?;
    Ok(layers.finish(&velocity, VELOCITY, &["rows", "patches", "patch"], "generator"))
}

fn inputs(layers: &mut Layers<'_>, takes_guidance: bool) {
    let graph = &mut layers.graph;
    graph.input(PATCHES_IN, Element::Float, &["rows", "patches", "patch"]);
    graph.input(TIME, Element::Float, &["rows", "features"]);
    graph.input(STATES, Element::Float, &["rows", "tokens", "text"]);
    graph.input(MASK, Element::Float, &["rows", "tokens", "one"]);
    graph.input(POOLED, Element::Float, &["rows", "text"]);
    if takes_guidance {
        graph.input(GUIDANCE, Element::Float, &["rows", "features"]);
    }
}

fn constants(layers: &mut Layers<'_>) {
    let graph = &mut layers.graph;
    graph.constant(ONE, &[1], &[1.0]);
    graph.constant(ONES, &[WIDTH], &[1.0; WIDTH]);
    graph.integers(FROM_FIRST, &[0]);
    graph.integers(SPLIT_HEADS, &[0, 0, HEADS as i64, HEAD as i64]);
    graph.integers(JOIN_HEADS, &[0, 0, WIDTH as i64]);
    let (cosines, sines): (Vec<f32>, Vec<f32>) =
        angles().into_iter().map(|angle| (angle.cos(), angle.sin())).unzip();
    let shape = [PATCHES + TEXT_TOKENS, HEAD / 2];
    graph.constant(COSINES, &shape, &cosines);
    graph.constant(SINES, &shape, &sines);
}

/// Rotation angles per position: half of the pairs by row, half by column. Prompt tokens are not
/// rotated.
fn angles() -> Vec<f32> {
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
fn condition(layers: &mut Layers<'_>, takes_guidance: bool) -> Result<String, String> {
    let time = told(layers, ["t1", "t2"], TIME)?;
    let prompt = layers.linear("pooled", POOLED, [TEXT_WIDTH, WIDTH])?;
    let mut sum = layers.standard("Add", &[&time, &prompt]);
    if takes_guidance {
        let guidance = told(layers, ["w1", "w2"], GUIDANCE)?;
        sum = layers.standard("Add", &[&sum, &guidance]);
    }
    Ok(layers.silu(&sum))
}

/// Projects an embedded number to a vector.
fn told(layers: &mut Layers<'_>, [one, two]: [&str; 2], input: &str) -> Result<String, String> {
    let wide = layers.linear(one, input, [FEATURES, WIDTH])?;
    let wide = layers.silu(&wide);
    layers.linear(two, &wide, [WIDTH, WIDTH])
}

/// The sequence: patches with position embeddings, then the prompt's tokens.
fn sequence(layers: &mut Layers<'_>) -> Result<String, String> {
    let patches = layers.linear("inp", PATCHES_IN, [PATCH, WIDTH])?;
    layers.stored("pos", &[PATCHES, WIDTH])?;
    let patches = layers.standard("Add", &[&patches, "pos"]);
    let words = layers.linear("text", STATES, [TEXT_WIDTH, WIDTH])?;
    layers.stored("pad", &[WIDTH])?;
    let words = layers.standard("Sub", &[&words, "pad"]);
    let words = layers.standard("Mul", &[&words, MASK]);
    let words = layers.standard("Add", &[&words, "pad"]);
    let along = [Attribute::Integer("axis", 1)];
    Ok(layers.node(Operator(STANDARD, "Concat"), &[&patches, &words], &along))
}

/// One block: attention and two dense layers, each scaled, shifted and gated.
fn transform(
    layers: &mut Layers<'_>,
    name: &str,
    input: &str,
    shared: &str,
) -> Result<String, String> {
    let table = format!("{name}.table");
    layers.stored(&table, &[MODULATIONS, WIDTH])?;
    let modulation = layers.standard("Add", &[shared, &table]);
    let parts: [String; MODULATIONS] = std::array::from_fn(|_| layers.name());
    let [scale, shift, gate, wide_scale, wide_shift, wide_gate] = parts.each_ref();
    let outputs = parts.each_ref().map(String::as_str);
    let along = [Attribute::Integer("axis", 1)];
    layers.graph.node(Operator(STANDARD, "Split"), &[&modulation], &outputs, &along);

    let normal = normalised(layers, input, scale, shift);
    let attended = attention(layers, name, &normal)?;
    let attended = layers.product(&format!("{name}.proj"), &attended, [WIDTH, WIDTH])?;
    let attended = layers.standard("Mul", &[&attended, gate]);
    let middle = layers.standard("Add", &[input, &attended]);

    let normal = normalised(layers, &middle, wide_scale, wide_shift);
    let wide = layers.product(&format!("{name}.fc1"), &normal, [WIDTH, 4 * WIDTH])?;
    let bias = format!("{name}.fc1.bias");
    layers.stored(&bias, &[4 * WIDTH])?;
    let wide = layers.node(Operator(FUSED, "FastGelu"), &[&wide, &bias], &[]);
    let narrow = layers.linear(&format!("{name}.fc2"), &wide, [4 * WIDTH, WIDTH])?;
    let narrow = layers.standard("Mul", &[&narrow, wide_gate]);
    Ok(layers.standard("Add", &[&middle, &narrow]))
}

fn normalised(layers: &mut Layers<'_>, input: &str, scale: &str, shift: &str) -> String {
    let normal = layers.standard("LayerNormalization", &[input, ONES]);
    let scale = layers.standard("Add", &[scale, ONE]);
    let scaled = layers.standard("Mul", &[&normal, &scale]);
    layers.standard("Add", &[&scaled, shift])
}

fn attention(layers: &mut Layers<'_>, name: &str, input: &str) -> Result<String, String> {
    let all = layers.product(&format!("{name}.qkv"), input, [WIDTH, 3 * WIDTH])?;
    let parts: [String; 3] = std::array::from_fn(|_| layers.name());
    let along = [Attribute::Integer("axis", 2)];
    let outputs = parts.each_ref().map(String::as_str);
    layers.graph.node(Operator(STANDARD, "Split"), &[&all], &outputs, &along);
    let [queries, keys, values] = &parts;
    let queries = turned(layers, &format!("{name}.q_scale"), queries)?;
    let keys = turned(layers, &format!("{name}.k_scale"), keys)?;
    let heads = [Attribute::Integer("num_heads", HEADS)];
    Ok(layers.node(Operator(FUSED, "MultiHeadAttention"), &[&queries, &keys, values], &heads))
}

/// RMS-normalises each head's vector, scales it, and rotates it by its position.
fn turned(layers: &mut Layers<'_>, scale: &str, input: &str) -> Result<String, String> {
    layers.stored(scale, &[HEAD])?;
    let heads = layers.standard("Reshape", &[input, SPLIT_HEADS]);
    let epsilon = [Attribute::Float("epsilon", 1e-6)];
    let normal = Operator(STANDARD, "SimplifiedLayerNormalization");
    let normal = layers.node(normal, &[&heads, scale], &epsilon);
    let joined = layers.standard("Reshape", &[&normal, JOIN_HEADS]);
    let inputs = [joined.as_str(), FROM_FIRST, COSINES, SINES];
    Ok(layers.node(Operator(FUSED, "RotaryEmbedding"), &inputs, &[]))
}

/// The velocities of the patches; prompt tokens have none.
fn head(layers: &mut Layers<'_>, sequence: &str, condition: &str) -> Result<String, String> {
    let last = layers.linear("last", condition, [WIDTH, 2 * WIDTH])?;
    layers.graph.integers("last.rows", &[-1, 1, 2 * WIDTH as i64]);
    let last = layers.standard("Reshape", &[&last, "last.rows"]);
    let (scale, shift) = (layers.name(), layers.name());
    let along = [Attribute::Integer("axis", 2)];
    layers.graph.node(Operator(STANDARD, "Split"), &[&last], &[&scale, &shift], &along);
    layers.graph.integers("patches.end", &[PATCHES as i64]);
    layers.graph.integers("patches.axis", &[1]);
    let cut = [sequence, FROM_FIRST, "patches.end", "patches.axis"];
    let patches = layers.standard("Slice", &cut);
    let normal = normalised(layers, &patches, &scale, &shift);
    layers.linear("out", &normal, [WIDTH, PATCH])
}
