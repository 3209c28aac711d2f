//! Layers of the generator and the autoencoder, as graph nodes.

use crate::onnx_file::{Attribute, FUSED, Graph, Operator, STANDARD};
use crate::tensors::{Matrix, Tensors};

/// Prevents division by zero in norms.
const NORM_EPSILON: f32 = 1e-6;
const EPSILON: &str = "epsilon";

/// A graph under construction, and the tensors for its constants.
pub(super) struct Layers<'a> {
    pub(super) graph: Graph,
    tensors: &'a Tensors<'a>,
    nodes: usize,
}

impl<'a> Layers<'a> {
    pub(super) fn new(tensors: &'a Tensors<'a>) -> Layers<'a> {
        let mut graph = Graph::default();
        graph.constant(EPSILON, &[1], &[NORM_EPSILON]);
        Layers { graph, tensors, nodes: 0 }
    }

    /// Adds a node with one output and returns the output's generated name.
    pub(super) fn node(
        &mut self,
        operator: Operator,
        inputs: &[&str],
        attributes: &[Attribute],
    ) -> String {
        let output = self.name();
        self.graph.node(operator, inputs, &[&output], attributes);
        output
    }

    pub(super) fn standard(&mut self, operator: &'static str, inputs: &[&str]) -> String {
        self.node(Operator(STANDARD, operator), inputs, &[])
    }

    /// A new unique name.
    pub(super) fn name(&mut self) -> String {
        self.nodes += 1;
        format!("node.{}", self.nodes)
    }

    /// Adds a stored tensor as a constant under its own name.
    pub(super) fn stored(&mut self, name: &str, shape: &[usize]) -> Result<(), String> {
        let Matrix { shape, values } = self.tensors.matrix(name, shape)?;
        self.graph.constant(name, &shape, &values);
        Ok(())
    }

    /// `x · weight`, without a bias.
    pub(super) fn product(
        &mut self,
        name: &str,
        input: &str,
        [inputs, outputs]: [usize; 2],
    ) -> Result<String, String> {
        let weight = format!("{name}.weight");
        let Matrix { shape, values } = self.tensors.transposed(&weight, inputs, outputs)?;
        self.graph.constant(&weight, &shape, &values);
        Ok(self.standard("MatMul", &[input, &weight]))
    }

    pub(super) fn linear(
        &mut self,
        name: &str,
        input: &str,
        sizes: [usize; 2],
    ) -> Result<String, String> {
        let product = self.product(name, input, sizes)?;
        let bias = format!("{name}.bias");
        self.stored(&bias, &sizes[1..])?;
        Ok(self.standard("Add", &[&product, &bias]))
    }

    /// `x · sigmoid(x)`.
    pub(super) fn silu(&mut self, input: &str) -> String {
        self.node(Operator(FUSED, "QuickGelu"), &[input], &[Attribute::Float("alpha", 1.0)])
    }

    /// A 3 × 3 convolution.
    pub(super) fn convolution(
        &mut self,
        name: &str,
        input: &str,
        [inputs, outputs]: [usize; 2],
        strides: &'static [u64],
    ) -> Result<String, String> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        self.stored(&weight, &[outputs, inputs, 3, 3])?;
        self.stored(&bias, &[outputs])?;
        let attributes = [
            Attribute::Integers("kernel_shape", &[3, 3]),
            Attribute::Integers("pads", &[1, 1, 1, 1]),
            Attribute::Integers("strides", strides),
        ];
        Ok(self.node(Operator(STANDARD, "Conv"), &[input, &weight, &bias], &attributes))
    }

    /// RMS norm over the channels of each position, scaled.
    pub(super) fn channel_norm(
        &mut self,
        name: &str,
        input: &str,
        channels: usize,
    ) -> Result<String, String> {
        let scale = format!("{name}.scale");
        let Matrix { values, .. } = self.tensors.matrix(&scale, &[channels])?;
        self.graph.constant(&scale, &[channels, 1, 1], &values);
        let squares = self.standard("Mul", &[input, input]);
        let axes = [Attribute::Integers("axes", &[1])];
        let mean = self.node(Operator(STANDARD, "ReduceMean"), &[&squares], &axes);
        let mean = self.standard("Add", &[&mean, EPSILON]);
        let root = self.standard("Sqrt", &[&mean]);
        let normal = self.standard("Div", &[input, &root]);
        Ok(self.standard("Mul", &[&normal, &scale]))
    }

    /// Two convolutions, each after a norm, with a residual connection.
    pub(super) fn residual(
        &mut self,
        name: &str,
        input: &str,
        channels: usize,
    ) -> Result<String, String> {
        let mut branch = input.to_owned();
        for part in ["1", "2"] {
            branch = self.channel_norm(&format!("{name}.n{part}"), &branch, channels)?;
            branch = self.silu(&branch);
            let convolution = format!("{name}.c{part}");
            branch = self.convolution(&convolution, &branch, [channels, channels], &[1, 1])?;
        }
        Ok(self.standard("Add", &[input, &branch]))
    }

    /// Returns the file, with `output` renamed to `as_name`.
    pub(super) fn finish(
        mut self,
        output: &str,
        as_name: &'static str,
        sizes: &[&str],
        graph: &str,
    ) -> Vec<u8> {
        self.graph.node(Operator(STANDARD, "Identity"), &[output], &[as_name], &[]);
        self.graph.output(as_name, sizes);
        self.graph.file(graph)
    }
}
