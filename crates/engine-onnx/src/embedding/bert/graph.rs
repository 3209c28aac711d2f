//! The nodes of a BERT encoder.

use super::Config;
use crate::onnx_file::{Attribute, Element, FUSED, Graph, Operator, STANDARD};
use crate::tensors::{Matrix, Tensors};

pub(super) const IDS: &str = "ids";
pub(super) const SEGMENTS: &str = "segments";
pub(super) const MASK: &str = "mask";
pub(super) const OUTPUT: &str = "states";

/// Builds the graph as an ONNX file.
pub(super) fn build(config: &Config, weights: &Tensors<'_>) -> Result<Vec<u8>, String> {
    let mut builder = Builder { config: *config, weights, graph: Graph::default() };
    for input in [IDS, SEGMENTS, MASK] {
        builder.graph.input(input, Element::Int32, &["inputs", "tokens"]);
    }
    builder.embeddings("layer.0")?;
    let layers = config.num_hidden_layers;
    for layer in 0..layers {
        let is_last = layer + 1 == layers;
        let output = if is_last { OUTPUT.to_owned() } else { format!("layer.{}", layer + 1) };
        builder.layer(layer, &format!("layer.{layer}"), &output)?;
    }
    builder.graph.output(OUTPUT, &["inputs", "tokens", "dimensions"]);
    Ok(builder.graph.file("bert"))
}

struct Builder<'a> {
    config: Config,
    weights: &'a Tensors<'a>,
    graph: Graph,
}

impl Builder<'_> {
    /// Sum of word, position and segment embeddings, normalised.
    fn embeddings(&mut self, output: &str) -> Result<(), String> {
        let hidden = self.config.hidden_size;
        let words = self.weights.rows("embeddings.word_embeddings.weight", hidden)?;
        let positions = self.config.max_position_embeddings;
        self.add("words", words);
        self.add_stored("embeddings.position_embeddings.weight", &[positions, hidden])?;
        let segments = self.weights.rows("embeddings.token_type_embeddings.weight", hidden)?;
        self.add("segment.kinds", segments);
        self.add_stored("embeddings.LayerNorm.weight", &[hidden])?;
        self.add_stored("embeddings.LayerNorm.bias", &[hidden])?;
        let inputs = [
            IDS,
            SEGMENTS,
            "words",
            "embeddings.position_embeddings.weight",
            "segment.kinds",
            "embeddings.LayerNorm.weight",
            "embeddings.LayerNorm.bias",
        ];
        let operator = Operator(FUSED, "EmbedLayerNormalization");
        let outputs = [output, "unused.mask"];
        self.graph.node(operator, &inputs, &outputs, &[self.epsilon()]);
        Ok(())
    }

    /// Attention and two dense layers, each with a residual connection and normalisation.
    fn layer(&mut self, layer: usize, input: &str, output: &str) -> Result<(), String> {
        let hidden = self.config.hidden_size;
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let attended = self.attention(layer, input)?;
        let projected = self.dense(&name("attention.output.dense"), &attended, hidden, hidden)?;
        let middle = name("middle");
        let bias = name("attention.output.dense.bias");
        self.add_stored(&bias, &[hidden])?;
        let norm = name("attention.output.LayerNorm");
        self.add_and_normalise(&norm, [&projected, input, &bias], &middle)?;
        let wide = self.weights.length(&name("intermediate.dense.bias"))?;
        let widened = self.dense(&name("intermediate.dense"), &middle, hidden, wide)?;
        let bias = name("intermediate.dense.bias");
        self.add_stored(&bias, &[wide])?;
        let activated = name("activated");
        let inputs = [widened.as_str(), bias.as_str()];
        self.graph.node(Operator(FUSED, "BiasGelu"), &inputs, &[&activated], &[]);
        let narrowed = self.dense(&name("output.dense"), &activated, wide, hidden)?;
        let bias = name("output.dense.bias");
        self.add_stored(&bias, &[hidden])?;
        self.add_and_normalise(&name("output.LayerNorm"), [&narrowed, &middle, &bias], output)
    }

    /// Queries, keys and values are computed by one multiplication.
    fn attention(&mut self, layer: usize, input: &str) -> Result<String, String> {
        let hidden = self.config.hidden_size;
        let name = |part: &str| format!("encoder.layer.{layer}.attention.self.{part}");
        let (mut matrices, mut biases) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let weight = name(&format!("{part}.weight"));
            matrices.push(self.weights.transposed(&weight, hidden, hidden)?);
            biases.push(self.weights.matrix(&name(&format!("{part}.bias")), &[hidden])?);
        }
        let (weight, bias, output) = (name("weight"), name("bias"), name("output"));
        self.add(&weight, Matrix::beside(&matrices));
        self.add(&bias, Matrix::joined(&biases));
        let inputs = [input, &weight, &bias, MASK];
        let heads = Attribute::Integer("num_heads", self.config.num_attention_heads);
        self.graph.node(Operator(FUSED, "Attention"), &inputs, &[&output], &[heads]);
        Ok(output)
    }

    fn dense(
        &mut self,
        name: &str,
        input: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<String, String> {
        let weight = format!("{name}.weight");
        let matrix = self.weights.transposed(&weight, inputs, outputs)?;
        self.add(&weight, matrix);
        let output = format!("{name}.product");
        self.graph.node(Operator(STANDARD, "MatMul"), &[input, &weight], &[&output], &[]);
        Ok(output)
    }

    /// Adds a branch, its input and a bias, and normalises the sum.
    fn add_and_normalise(
        &mut self,
        name: &str,
        [branch, trunk, bias]: [&str; 3],
        output: &str,
    ) -> Result<(), String> {
        let hidden = self.config.hidden_size;
        let (scale, shift) = (format!("{name}.weight"), format!("{name}.bias"));
        self.add_stored(&scale, &[hidden])?;
        self.add_stored(&shift, &[hidden])?;
        let inputs = [branch, trunk, &scale, &shift, bias];
        let operator = Operator(FUSED, "SkipLayerNormalization");
        self.graph.node(operator, &inputs, &[output], &[self.epsilon()]);
        Ok(())
    }

    /// Adds a matrix under its name in the file.
    fn add_stored(&mut self, name: &str, shape: &[usize]) -> Result<(), String> {
        let matrix = self.weights.matrix(name, shape)?;
        self.add(name, matrix);
        Ok(())
    }

    fn add(&mut self, name: &str, matrix: Matrix) {
        self.graph.constant(name, &matrix.shape, &matrix.values);
    }

    fn epsilon(&self) -> Attribute {
        Attribute::Float("epsilon", self.config.layer_norm_eps)
    }
}
