//! Layers of the generator and the autoencoder, as graph nodes.

use crate::onnx_file::{FUSED, NodeAttribute, OnnxGraph, OnnxOperator, STANDARD};
use crate::tensors::{FloatMatrix, NamedTensors};

/// Prevents division by zero in norms.
const NORM_EPSILON: f32 = 1e-6;
const EPSILON: &str = "epsilon";

/// A graph under construction, and the tensors for its constants.
pub(super) struct LayerBuilder<'a> {
    pub(super) graph: OnnxGraph,
    tensors: &'a NamedTensors<'a>,
    nodes: usize,
}

impl<'a> LayerBuilder<'a> {
    pub(super) fn new(tensors: &'a NamedTensors<'a>) -> LayerBuilder<'a> {
        let mut graph = OnnxGraph::default();
        graph.add_constant(EPSILON, &[1], &[NORM_EPSILON]);
        LayerBuilder { graph, tensors, nodes: 0 }
    }

    /// Adds a node with one output and returns the output's generated name.
    pub(super) fn add_node(
        &mut self,
        operator: OnnxOperator,
        inputs: &[&str],
        attributes: &[NodeAttribute],
    ) -> String {
        let output = self.next_name();
        self.graph.add_node(operator, inputs, &[&output], attributes);
        output
    }

    pub(super) fn add_standard(&mut self, operator: &'static str, inputs: &[&str]) -> String {
        self.add_node(OnnxOperator(STANDARD, operator), inputs, &[])
    }

    /// A new unique name.
    pub(super) fn next_name(&mut self) -> String {
        self.nodes += 1;
        format!("node.{}", self.nodes)
    }

    /// Adds a stored tensor as a constant under its own name.
    pub(super) fn add_stored(&mut self, name: &str, shape: &[usize]) -> Result<(), String> {
        let FloatMatrix { shape, values } = self.tensors.read_matrix(name, shape)?;
        self.graph.add_constant(name, &shape, &values);
        Ok(())
    }

    /// `x · weight`, without a bias.
    pub(super) fn add_product(
        &mut self,
        name: &str,
        input: &str,
        [inputs, outputs]: [usize; 2],
    ) -> Result<String, String> {
        let weight = format!("{name}.weight");
        let FloatMatrix { shape, values } =
            self.tensors.read_transposed(&weight, inputs, outputs)?;
        self.graph.add_constant(&weight, &shape, &values);
        Ok(self.add_standard("MatMul", &[input, &weight]))
    }

    pub(super) fn add_linear(
        &mut self,
        name: &str,
        input: &str,
        sizes: [usize; 2],
    ) -> Result<String, String> {
        let product = self.add_product(name, input, sizes)?;
        let bias = format!("{name}.bias");
        self.add_stored(&bias, &sizes[1..])?;
        Ok(self.add_standard("Add", &[&product, &bias]))
    }

    /// `x · sigmoid(x)`.
    pub(super) fn add_silu(&mut self, input: &str) -> String {
        self.add_node(
            OnnxOperator(FUSED, "QuickGelu"),
            &[input],
            &[NodeAttribute::Float("alpha", 1.0)],
        )
    }

    /// A 3 × 3 convolution.
    pub(super) fn add_convolution(
        &mut self,
        name: &str,
        input: &str,
        [inputs, outputs]: [usize; 2],
        strides: &'static [u64],
    ) -> Result<String, String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.add_stored(&weight, &[outputs, inputs, 3, 3])?;
        self.add_stored(&bias, &[outputs])?;
        let attributes = [
            NodeAttribute::Integers("kernel_shape", &[3, 3]),
            NodeAttribute::Integers("pads", &[1, 1, 1, 1]),
            NodeAttribute::Integers("strides", strides),
        ];
        Ok(self.add_node(OnnxOperator(STANDARD, "Conv"), &[input, &weight, &bias], &attributes))
    }

    /// RMS norm over the channels of each position, scaled.
    pub(super) fn add_channel_norm(
        &mut self,
        name: &str,
        input: &str,
        channels: usize,
    ) -> Result<String, String> {
        let scale = format!("{name}.scale");
        let FloatMatrix { values, .. } = self.tensors.read_matrix(&scale, &[channels])?;
        self.graph.add_constant(&scale, &[channels, 1, 1], &values);
        let squares = self.add_standard("Mul", &[input, input]);
        let axes = [NodeAttribute::Integers("axes", &[1])];
        let mean = self.add_node(OnnxOperator(STANDARD, "ReduceMean"), &[&squares], &axes);
        let mean = self.add_standard("Add", &[&mean, EPSILON]);
        let root = self.add_standard("Sqrt", &[&mean]);
        let normal = self.add_standard("Div", &[input, &root]);
        Ok(self.add_standard("Mul", &[&normal, &scale]))
    }

    /// Two convolutions, each after a norm, with a residual connection.
    pub(super) fn add_residual(
        &mut self,
        name: &str,
        input: &str,
        channels: usize,
    ) -> Result<String, String> {
        let mut branch = input.to_owned();
        for part in ["1", "2"] {
            branch = self.add_channel_norm(&format!("{name}.n{part}"), &branch, channels)?;
            branch = self.add_silu(&branch);
            let convolution = format!("{name}.c{part}");
            branch = self.add_convolution(&convolution, &branch, [channels, channels], &[1, 1])?;
        }
        Ok(self.add_standard("Add", &[input, &branch]))
    }

    /// Returns the file, with `output` renamed to `as_name`.
    pub(super) fn finish(
        mut self,
        output: &str,
        as_name: &'static str,
        sizes: &[&str],
        graph: &str,
    ) -> Vec<u8> {
        self.graph.add_node(OnnxOperator(STANDARD, "Identity"), &[output], &[as_name], &[]);
        self.graph.add_output(as_name, sizes);
        self.graph.into_file(graph)
    }
}
