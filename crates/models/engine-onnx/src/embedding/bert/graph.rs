//! The nodes of a BERT encoder.

use super::BertConfig;
use crate::onnx_file::{ElementType, FUSED, NodeAttribute, OnnxGraph, OnnxOperator, STANDARD};
use crate::tensors::{FloatMatrix, NamedTensors};

pub(super) const IDS: &str = "ids";
pub(super) const SEGMENTS: &str = "segments";
pub(super) const MASK: &str = "mask";
pub(super) const OUTPUT: &str = "states";

/// Builds the graph as an ONNX file.
pub(super) fn build_graph(
    config: &BertConfig,
    weights: &NamedTensors<'_>,
) -> Result<Vec<u8>, String> {
    let mut builder = BertGraphBuilder { config: *config, weights, graph: OnnxGraph::default() };
    for input in [IDS, SEGMENTS, MASK] {
        builder.graph.add_input(input, ElementType::Int32, &["inputs", "tokens"]);
    }
    builder.add_embeddings("layer.0")?;
    let layers = config.num_hidden_layers;
    for layer in 0..layers {
        let is_last = layer + 1 == layers;
        let output = if is_last { OUTPUT.to_owned() } else { format!("layer.{}", layer + 1) };
        builder.add_layer(layer, &format!("layer.{layer}"), &output)?;
    }
    builder.graph.add_output(OUTPUT, &["inputs", "tokens", "dimensions"]);
    Ok(builder.graph.into_file("bert"))
}

struct BertGraphBuilder<'a> {
    config: BertConfig,
    weights: &'a NamedTensors<'a>,
    graph: OnnxGraph,
}

impl BertGraphBuilder<'_> {
    /// Sum of word, position and segment embeddings, normalised.
    fn add_embeddings(&mut self, output: &str) -> Result<(), String> {
        let hidden = self.config.hidden_size;
        let words = self.weights.read_rows("embeddings.word_embeddings.weight", hidden)?;
        let positions = self.config.max_position_embeddings;
        self.add_matrix("words", words);
        self.add_stored("embeddings.position_embeddings.weight", &[positions, hidden])?;
        let segments = self.weights.read_rows("embeddings.token_type_embeddings.weight", hidden)?;
        self.add_matrix("segment.kinds", segments);
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
        let operator = OnnxOperator(FUSED, "EmbedLayerNormalization");
        let outputs = [output, "unused.mask"];
        self.graph.add_node(operator, &inputs, &outputs, &[self.epsilon()]);
        Ok(())
    }

    /// Attention and two dense layers, each with a residual connection and normalisation.
    fn add_layer(&mut self, layer: usize, input: &str, output: &str) -> Result<(), String> {
        let hidden = self.config.hidden_size;
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let attended = self.add_attention(layer, input)?;
        let projected =
            self.add_dense(&name("attention.output.dense"), &attended, hidden, hidden)?;
        let middle = name("middle");
        let bias = name("attention.output.dense.bias");
        self.add_stored(&bias, &[hidden])?;
        let norm = name("attention.output.LayerNorm");
        self.add_and_normalise(&norm, [&projected, input, &bias], &middle)?;
        let wide = self.weights.tensor_length(&name("intermediate.dense.bias"))?;
        let widened = self.add_dense(&name("intermediate.dense"), &middle, hidden, wide)?;
        let bias = name("intermediate.dense.bias");
        self.add_stored(&bias, &[wide])?;
        let activated = name("activated");
        let inputs = [widened.as_str(), bias.as_str()];
        self.graph.add_node(OnnxOperator(FUSED, "BiasGelu"), &inputs, &[&activated], &[]);
        let narrowed = self.add_dense(&name("output.dense"), &activated, wide, hidden)?;
        let bias = name("output.dense.bias");
        self.add_stored(&bias, &[hidden])?;
        self.add_and_normalise(&name("output.LayerNorm"), [&narrowed, &middle, &bias], output)
    }

    /// Queries, keys and values are computed by one multiplication.
    fn add_attention(&mut self, layer: usize, input: &str) -> Result<String, String> {
        let hidden = self.config.hidden_size;
        let name = |part: &str| format!("encoder.layer.{layer}.attention.self.{part}");
        let (mut matrices, mut biases) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let weight = name(&format!("{part}.weight"));
            matrices.push(self.weights.read_transposed(&weight, hidden, hidden)?);
            biases.push(self.weights.read_matrix(&name(&format!("{part}.bias")), &[hidden])?);
        }
        let (weight, bias, output) = (name("weight"), name("bias"), name("output"));
        self.add_matrix(&weight, FloatMatrix::join_columns(&matrices));
        self.add_matrix(&bias, FloatMatrix::concatenate(&biases));
        let inputs = [input, &weight, &bias, MASK];
        let heads = NodeAttribute::Integer("num_heads", self.config.num_attention_heads);
        self.graph.add_node(OnnxOperator(FUSED, "Attention"), &inputs, &[&output], &[heads]);
        Ok(output)
    }

    fn add_dense(
        &mut self,
        name: &str,
        input: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<String, String> {
        let weight = format!("{name}.weight");
        let matrix = self.weights.read_transposed(&weight, inputs, outputs)?;
        self.add_matrix(&weight, matrix);
        let output = format!("{name}.product");
        self.graph.add_node(OnnxOperator(STANDARD, "MatMul"), &[input, &weight], &[&output], &[]);
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
        let operator = OnnxOperator(FUSED, "SkipLayerNormalization");
        self.graph.add_node(operator, &inputs, &[output], &[self.epsilon()]);
        Ok(())
    }

    /// Adds a matrix under its name in the file.
    fn add_stored(&mut self, name: &str, shape: &[usize]) -> Result<(), String> {
        let matrix = self.weights.read_matrix(name, shape)?;
        self.add_matrix(name, matrix);
        Ok(())
    }

    fn add_matrix(&mut self, name: &str, matrix: FloatMatrix) {
        self.graph.add_constant(name, &matrix.shape, &matrix.values);
    }

    fn epsilon(&self) -> NodeAttribute {
        NodeAttribute::Float("epsilon", self.config.layer_norm_eps)
    }
}
