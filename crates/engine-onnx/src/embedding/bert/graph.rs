//! The nodes of a BERT encoder.

use ort::editor::{Graph, Model, Node, ONNX_DOMAIN, Opset};
use ort::memory::Allocator;
use ort::operator::Attribute;
use ort::value::{Outlet, Shape, SymbolicDimensions, Tensor, TensorElementType, ValueType};

use super::Config;
use super::weights::{Matrix, Weights};

pub(super) const IDS: &str = "ids";
pub(super) const SEGMENTS: &str = "segments";
pub(super) const MASK: &str = "mask";
pub(super) const OUTPUT: &str = "states";

/// The runtime's own operators, beside those of the standard.
const FUSED_DOMAIN: &str = "com.microsoft";
const ONNX_OPSET: u32 = 17;
const FUSED_OPSET: u32 = 1;

pub(super) enum BuildError {
    Weights(String),
    Graph(ort::Error),
}

impl From<ort::Error> for BuildError {
    fn from(error: ort::Error) -> BuildError {
        BuildError::Graph(error)
    }
}

impl From<String> for BuildError {
    fn from(cause: String) -> BuildError {
        BuildError::Weights(cause)
    }
}

pub(super) fn build(config: &Config, weights: &Weights<'_>) -> Result<Model, BuildError> {
    let mut builder = Builder { config: *config, weights, graph: Graph::new()? };
    builder
        .graph
        .set_inputs([IDS, SEGMENTS, MASK].map(|it| outlet(it, TensorElementType::Int32, 2)))?;
    builder.embeddings("layer.0")?;
    let layers = config.num_hidden_layers;
    for layer in 0..layers {
        let is_last = layer + 1 == layers;
        let output = if is_last { OUTPUT.to_owned() } else { format!("layer.{}", layer + 1) };
        builder.layer(layer, &format!("layer.{layer}"), &output)?;
    }
    builder.graph.set_outputs([outlet(OUTPUT, TensorElementType::Float32, 3)])?;
    let opsets = [Opset::new(ONNX_DOMAIN, ONNX_OPSET)?, Opset::new(FUSED_DOMAIN, FUSED_OPSET)?];
    let mut model = Model::new(opsets)?;
    model.set_graph(builder.graph)?;
    Ok(model)
}

struct Builder<'a> {
    config: Config,
    weights: &'a Weights<'a>,
    graph: Graph,
}

impl Builder<'_> {
    /// Words, positions and segments added up and normalised.
    fn embeddings(&mut self, output: &str) -> Result<(), BuildError> {
        let hidden = self.config.hidden_size;
        let words = self.weights.rows("embeddings.word_embeddings.weight", hidden)?;
        let positions = self.config.max_position_embeddings;
        self.add("words", words)?;
        self.add_stored("embeddings.position_embeddings.weight", &[positions, hidden])?;
        let segments = self.weights.rows("embeddings.token_type_embeddings.weight", hidden)?;
        self.add("segment.kinds", segments)?;
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
        let outputs = [output, "unused.mask"];
        let epsilon = Attribute::new("epsilon", self.config.layer_norm_eps)?;
        let operator = "EmbedLayerNormalization";
        let node = Node::new(operator, FUSED_DOMAIN, "embed", inputs, outputs, [epsilon])?;
        Ok(self.graph.add_node(node)?)
    }

    /// Attention and two dense layers, each added to its input and normalised.
    fn layer(&mut self, layer: usize, input: &str, output: &str) -> Result<(), BuildError> {
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
        let node = Node::new("BiasGelu", FUSED_DOMAIN, name("gelu"), inputs, [&activated], [])?;
        self.graph.add_node(node)?;
        let narrowed = self.dense(&name("output.dense"), &activated, wide, hidden)?;
        let bias = name("output.dense.bias");
        self.add_stored(&bias, &[hidden])?;
        self.add_and_normalise(&name("output.LayerNorm"), [&narrowed, &middle, &bias], output)
    }

    /// Queries, keys and values come from one multiplication.
    fn attention(&mut self, layer: usize, input: &str) -> Result<String, BuildError> {
        let hidden = self.config.hidden_size;
        let name = |part: &str| format!("encoder.layer.{layer}.attention.self.{part}");
        let (mut matrices, mut biases) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let weight = name(&format!("{part}.weight"));
            matrices.push(self.weights.transposed(&weight, hidden, hidden)?);
            biases.push(self.weights.matrix(&name(&format!("{part}.bias")), &[hidden])?);
        }
        let (weight, bias, output) = (name("weight"), name("bias"), name("output"));
        self.add(&weight, Matrix::beside(&matrices))?;
        self.add(&bias, Matrix::joined(&biases))?;
        let inputs = [input, &weight, &bias, MASK];
        let heads = Attribute::new("num_heads", self.config.num_attention_heads as i64)?;
        let node = Node::new("Attention", FUSED_DOMAIN, name("node"), inputs, [&output], [heads])?;
        self.graph.add_node(node)?;
        Ok(output)
    }

    fn dense(
        &mut self,
        name: &str,
        input: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<String, BuildError> {
        let weight = format!("{name}.weight");
        let matrix = self.weights.transposed(&weight, inputs, outputs)?;
        self.add(&weight, matrix)?;
        let output = format!("{name}.product");
        let node = Node::new("MatMul", ONNX_DOMAIN, name, [input, &weight], [&output], [])?;
        self.graph.add_node(node)?;
        Ok(output)
    }

    /// Adds a branch, what it branched off from and a bias, and normalises the sum.
    fn add_and_normalise(
        &mut self,
        name: &str,
        [branch, trunk, bias]: [&str; 3],
        output: &str,
    ) -> Result<(), BuildError> {
        let hidden = self.config.hidden_size;
        let (scale, shift) = (format!("{name}.weight"), format!("{name}.bias"));
        self.add_stored(&scale, &[hidden])?;
        self.add_stored(&shift, &[hidden])?;
        let inputs = [branch, trunk, &scale, &shift, bias];
        let epsilon = Attribute::new("epsilon", self.config.layer_norm_eps)?;
        let operator = "SkipLayerNormalization";
        let node = Node::new(operator, FUSED_DOMAIN, name, inputs, [output], [epsilon])?;
        Ok(self.graph.add_node(node)?)
    }

    /// A matrix under the name that it has in the file.
    fn add_stored(&mut self, name: &str, shape: &[usize]) -> Result<(), BuildError> {
        let matrix = self.weights.matrix(name, shape)?;
        self.add(name, matrix)
    }

    fn add(&mut self, name: &str, matrix: Matrix) -> Result<(), BuildError> {
        let shape: Vec<i64> = matrix.shape.iter().map(|it| it.cast_signed() as i64).collect();
        let mut tensor = Tensor::<f32>::new(&Allocator::default(), shape)?;
        tensor.extract_tensor_mut().1.copy_from_slice(&matrix.values);
        Ok(self.graph.add_initializer(name, tensor, false)?)
    }
}

/// An input or output whose sizes are known only when it runs.
fn outlet(name: &str, ty: TensorElementType, rank: usize) -> Outlet {
    let shape = Shape::new(vec![-1; rank]);
    let dimension_symbols = SymbolicDimensions::empty(rank);
    Outlet::new(name, ValueType::Tensor { ty, shape, dimension_symbols })
}
