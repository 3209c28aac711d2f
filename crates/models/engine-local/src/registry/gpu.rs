//! Decides how many layers of a text model run on GPUs: as many as fit into their free memory.

use engine_text::GpuDevice;

use super::ModelLimits;

/// Kept free on each GPU for compute buffers and other programs.
const SPARE_BYTES: u64 = 1 << 30;
/// Concurrent completions of a model that is entirely on GPUs.
const PARALLEL: u32 = 16;
/// Divisor: the prompt cache of one model may take this fraction of the free GPU memory.
const CACHE_SHARE: u64 = 4;

/// The size of a model, known before it is loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModelSize {
    pub(super) bytes: u64,
    /// Including the output layer, which counts as one.
    pub(super) layers: u32,
}

/// The distribution of a model over GPUs and CPU, with its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GpuPlacement {
    pub(super) gpu_layers: u32,
    pub(super) parallel: u32,
    pub(super) cache_bytes_max: u64,
}

impl GpuPlacement {
    pub(super) fn on_processor(limits: &ModelLimits) -> GpuPlacement {
        let ModelLimits { parallel, cache_bytes_max, .. } = *limits;
        GpuPlacement { gpu_layers: 0, parallel, cache_bytes_max }
    }

    /// `asked` is the operator's number of layers, which overrides the number that fits.
    pub(super) fn fit_gpus(
        gpus: &[GpuDevice],
        size: ModelSize,
        asked: Option<u32>,
        limits: &ModelLimits,
    ) -> GpuPlacement {
        let processor = GpuPlacement::on_processor(limits);
        let free: u64 = gpus.iter().map(|gpu| gpu.free_bytes.saturating_sub(SPARE_BYTES)).sum();
        let each = (size.bytes + processor.cache_bytes_max) / u64::from(size.layers.max(1));
        let fitting = u32::try_from(free / each.max(1)).unwrap_or(u32::MAX);
        let wanted = if gpus.is_empty() { 0 } else { asked.unwrap_or(fitting) };
        let gpu_layers = wanted.min(size.layers);
        if gpu_layers < size.layers {
            return GpuPlacement { gpu_layers, ..processor };
        }
        let cache_bytes_max = (free / CACHE_SHARE)
            .min(free.saturating_sub(size.bytes))
            .max(processor.cache_bytes_max);
        GpuPlacement { gpu_layers, parallel: PARALLEL, cache_bytes_max }
    }

    /// After a failed load: moves a quarter of the layers off the GPUs.
    pub(super) fn with_fewer(self, size: ModelSize, limits: &ModelLimits) -> GpuPlacement {
        let fewer = self.gpu_layers.saturating_sub((size.layers / 4).max(1));
        GpuPlacement { gpu_layers: fewer, ..GpuPlacement::on_processor(limits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const LIMITS: ModelLimits = ModelLimits {
        threads: 2,
        adapts_threads: false,
        memory_bytes_max: 8 * GIB,
        cache_bytes_max: GIB,
        parallel: 4,
    };
    const SIZE: ModelSize = ModelSize { bytes: 7 * GIB, layers: 33 };

    fn gpu(free_gib: u64) -> GpuDevice {
        let (name, model) = ("CUDA0".to_owned(), "a GPU".to_owned());
        GpuDevice { name, model, free_bytes: free_gib * GIB, total_bytes: 80 * GIB }
    }

    #[track_caller]
    fn check(gpus: &[u64], asked: Option<u32>, gpu_layers: u32) -> GpuPlacement {
        let gpus: Vec<GpuDevice> = gpus.iter().map(|free| gpu(*free)).collect();
        let placement = GpuPlacement::fit_gpus(&gpus, SIZE, asked, &LIMITS);
        assert_eq!(placement.gpu_layers, gpu_layers);
        placement
    }

    #[test]
    fn as_many_layers_as_fit_are_on_gpus() {
        check(&[], None, 0);
        check(&[1], None, 0);
        check(&[5], None, 16);
        check(&[5, 5], None, 33);
        check(&[80], None, 33);
    }

    #[test]
    fn the_operators_word_counts_where_there_is_a_gpu() {
        check(&[], Some(10), 0);
        check(&[80], Some(10), 10);
        check(&[80], Some(0), 0);
        check(&[5], Some(1000), 33);
    }

    #[test]
    fn a_model_that_is_whole_on_gpus_answers_more_callers_at_once() {
        let whole = check(&[41], None, 33);
        assert_eq!((whole.parallel, whole.cache_bytes_max), (PARALLEL, 10 * GIB));
        let half = check(&[5], None, 16);
        assert_eq!((half.parallel, half.cache_bytes_max), (4, GIB));
    }

    #[test]
    fn tries_that_fail_end_at_the_processor() {
        let mut placement = check(&[80], None, 33);
        let mut tried = Vec::new();
        while 0 < placement.gpu_layers {
            placement = placement.with_fewer(SIZE, &LIMITS);
            tried.push(placement.gpu_layers);
        }
        assert_eq!(tried, [25, 17, 9, 1, 0]);
        assert_eq!(placement, GpuPlacement::on_processor(&LIMITS));
    }
}
