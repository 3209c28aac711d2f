//! Named tensors of a safetensors file, as 32-bit floats.

use half::f16;
use safetensors::{Dtype, SafeTensors};

pub(crate) struct NamedTensors<'a>(SafeTensors<'a>);

/// Values in row-major order.
pub(crate) struct FloatMatrix {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl<'a> NamedTensors<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<NamedTensors<'a>, String> {
        SafeTensors::deserialize(bytes).map(NamedTensors).map_err(|error| error.to_string())
    }

    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    /// Reads a tensor, stored as floats, or as bytes with a scale per row in `{name}.q` and
    /// `{name}.s`.
    pub(crate) fn read_matrix(&self, name: &str, shape: &[usize]) -> Result<FloatMatrix, String> {
        if self.has_tensor(&format!("{name}.q")) {
            return self.read_scaled(name, shape);
        }
        self.read_stored(name, shape)
    }

    fn read_scaled(&self, name: &str, shape: &[usize]) -> Result<FloatMatrix, String> {
        let rows = shape.first().copied().unwrap_or_default();
        let scales = self.read_stored(&format!("{name}.s"), &[rows])?.values;
        let mut matrix = self.read_stored(&format!("{name}.q"), shape)?;
        let columns = shape.iter().skip(1).product::<usize>().max(1);
        for (row, scale) in matrix.values.chunks_exact_mut(columns).zip(scales) {
            row.iter_mut().for_each(|it| *it *= scale);
        }
        Ok(matrix)
    }

    fn read_stored(&self, name: &str, shape: &[usize]) -> Result<FloatMatrix, String> {
        let tensor = self.0.tensor(name).map_err(|error| format!("{name}: {error}"))?;
        if tensor.shape() != shape {
            return Err(format!("{name} has the shape {:?} and not {shape:?}", tensor.shape()));
        }
        let bytes = tensor.data();
        let values = match tensor.dtype() {
            Dtype::F32 => bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect(),
            Dtype::F16 => {
                bytes.as_chunks().0.iter().map(|it| f16::from_le_bytes(*it).to_f32()).collect()
            }
            Dtype::I8 => bytes.iter().map(|it| f32::from(it.cast_signed())).collect(),
            other => return Err(format!("{name} has numbers of the kind {other:?}")),
        };
        Ok(FloatMatrix { shape: shape.to_vec(), values })
    }

    /// Reads a table with any number of rows.
    pub(crate) fn read_rows(&self, name: &str, columns: usize) -> Result<FloatMatrix, String> {
        let tensor = self.0.tensor(name).map_err(|error| format!("{name}: {error}"))?;
        let rows = tensor.shape().first().copied().unwrap_or_default();
        self.read_matrix(name, &[rows, columns])
    }

    pub(crate) fn tensor_length(&self, name: &str) -> Result<usize, String> {
        let tensor = self.0.tensor(name).map_err(|error| format!("{name}: {error}"))?;
        Ok(tensor.shape().iter().product())
    }

    /// Reads weights, stored with one row per output, transposed for the graph's multiplication.
    pub(crate) fn read_transposed(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<FloatMatrix, String> {
        let stored = self.read_matrix(name, &[outputs, inputs])?;
        let column = |input: usize| (0..outputs).map(move |output| output * inputs + input);
        let values = (0..inputs).flat_map(column).map(|at| stored.values[at]).collect();
        Ok(FloatMatrix { shape: vec![inputs, outputs], values })
    }
}

impl FloatMatrix {
    /// Joins matrices horizontally.
    pub(crate) fn join_columns(parts: &[FloatMatrix]) -> FloatMatrix {
        let rows = parts.first().map_or(0, |it| it.shape[0]);
        let columns: usize = parts.iter().map(|it| it.shape[1]).sum();
        let row = |row: usize| parts.iter().flat_map(move |it| it.row(row)).copied();
        FloatMatrix { shape: vec![rows, columns], values: (0..rows).flat_map(row).collect() }
    }

    pub(crate) fn concatenate(parts: &[FloatMatrix]) -> FloatMatrix {
        let values: Vec<f32> = parts.iter().flat_map(|it| &it.values).copied().collect();
        FloatMatrix { shape: vec![values.len()], values }
    }

    fn row(&self, row: usize) -> &[f32] {
        let columns = self.shape[1];
        &self.values[row * columns..][..columns]
    }
}
