//! Chooses the GPU for text models, and the files to download for it.

use std::path::{Path, PathBuf};

use config::sections::engine as section;
use weights::embedded_manifest;

use crate::engine::EngineDevice;

/// Entries of the weights manifest: llama.cpp's GPU backends and the CUDA libraries.
const CUDA_PART: &str = "llama-cpp-cuda";
const CUDA_RUNTIME: &str = "cuda-runtime";
const VULKAN_PART: &str = "llama-cpp-vulkan";
/// The first driver that can JIT-compile CUDA 12.4 code for newer GPUs.
const DRIVER_MIN: u32 = 550;
/// A library that the CUDA backend needs. The others are expected in the same folder.
const CUDA_LIBRARY: &str = "libcublas.so.12";
const CUDA_DIRS: [&str; 4] = [
    "usr/local/cuda/lib64",
    "usr/local/cuda/targets/x86_64-linux/lib",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib64",
];
const VULKAN_DIRS: [&str; 2] = ["usr/share/vulkan/icd.d", "etc/vulkan/icd.d"];

/// The GPU hardware and drivers found on the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DetectedGpus {
    nvidia: Option<NvidiaGpus>,
    /// True if there is a render device and a Vulkan driver.
    has_vulkan: bool,
    /// The folder of the installed CUDA libraries.
    cuda_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NvidiaGpus {
    driver: String,
    models: Vec<String>,
}

/// The device selected from the configuration and the hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GpuChoice {
    pub(crate) device: EngineDevice,
    /// Manifest entries to download before text models.
    pub(crate) entries: Vec<&'static str>,
    pub(crate) cuda_dir: Option<PathBuf>,
    /// A description of the device.
    pub(crate) summary: String,
    /// The reason why a requested or existing GPU cannot be used.
    pub(crate) obstacle: Option<String>,
}

impl DetectedGpus {
    /// Inspects the machine. `root` is `/`; `library_path` is the value of `LD_LIBRARY_PATH`.
    pub(crate) fn detect(root: &Path, library_path: Option<&str>) -> DetectedGpus {
        let is_named = |path: &PathBuf| path.join(CUDA_LIBRARY).exists();
        let first = library_path.unwrap_or_default().split(':').filter(|it| !it.is_empty());
        let first = first.map(PathBuf::from);
        let usual = CUDA_DIRS.iter().map(|folder| root.join(folder));
        let has_device =
            list_file_names(&root.join("dev/dri")).iter().any(|it| it.starts_with("renderD"));
        let has_driver =
            VULKAN_DIRS.iter().any(|folder| !list_file_names(&root.join(folder)).is_empty());
        DetectedGpus {
            nvidia: detect_nvidia(root),
            has_vulkan: has_device && has_driver,
            cuda_dir: first.chain(usual).find(is_named),
        }
    }
}

impl GpuChoice {
    /// Selects the device. The operator's own library needs no downloads.
    pub(crate) fn select(
        wanted: section::DeviceSetting,
        has_own_library: bool,
        seen: &DetectedGpus,
    ) -> GpuChoice {
        if has_own_library {
            let device = if wanted == section::DeviceSetting::Cpu {
                EngineDevice::Cpu
            } else {
                EngineDevice::Auto
            };
            return GpuChoice::without_parts(device, "the device of your own llama.cpp library");
        }
        match wanted {
            section::DeviceSetting::Cpu => {
                GpuChoice::without_parts(EngineDevice::Cpu, "the CPU, as configured")
            }
            section::DeviceSetting::Cuda => {
                GpuChoice::try_cuda(seen).unwrap_or_else(GpuChoice::fall_back_to_cpu)
            }
            section::DeviceSetting::Vulkan => {
                GpuChoice::try_vulkan(seen).unwrap_or_else(GpuChoice::fall_back_to_cpu)
            }
            section::DeviceSetting::Auto => GpuChoice::select_best(seen),
        }
    }

    fn select_best(seen: &DetectedGpus) -> GpuChoice {
        match (GpuChoice::try_cuda(seen), GpuChoice::try_vulkan(seen)) {
            (Ok(choice), _) | (Err(_), Ok(choice)) => choice,
            (Err(obstacle), Err(_)) if seen.nvidia.is_some() => {
                GpuChoice::fall_back_to_cpu(obstacle)
            }
            _ => GpuChoice::without_parts(EngineDevice::Auto, "the CPU: no GPU was found"),
        }
    }

    fn try_cuda(seen: &DetectedGpus) -> Result<GpuChoice, String> {
        let nvidia = seen.nvidia.as_ref().ok_or("no driver for NVIDIA GPUs is running")?;
        let driver = &nvidia.driver;
        let major = driver.split('.').next().and_then(|it| it.parse().ok()).unwrap_or(0);
        if major < DRIVER_MIN {
            return Err(format!(
                "the NVIDIA driver is {driver}, and llama.cpp needs {DRIVER_MIN} or newer"
            ));
        }
        let mut entries = require_published_entry(CUDA_PART)?;
        if seen.cuda_dir.is_none() {
            entries.extend(require_published_entry(CUDA_RUNTIME)?);
        }
        let models = nvidia.models.join(", ");
        Ok(GpuChoice {
            device: EngineDevice::Cuda,
            entries,
            cuda_dir: seen.cuda_dir.clone(),
            summary: format!("{models} with CUDA, driver {driver}"),
            obstacle: None,
        })
    }

    fn try_vulkan(seen: &DetectedGpus) -> Result<GpuChoice, String> {
        if !seen.has_vulkan {
            return Err("no GPU with a Vulkan driver was found".to_owned());
        }
        let entries = require_published_entry(VULKAN_PART)?;
        let summary = "a GPU with Vulkan".to_owned();
        Ok(GpuChoice {
            device: EngineDevice::Vulkan,
            entries,
            cuda_dir: None,
            summary,
            obstacle: None,
        })
    }

    fn fall_back_to_cpu(obstacle: String) -> GpuChoice {
        let choice = GpuChoice::without_parts(EngineDevice::Auto, "the processor");
        GpuChoice { obstacle: Some(obstacle), ..choice }
    }

    fn without_parts(device: EngineDevice, summary: &str) -> GpuChoice {
        let (entries, summary) = (Vec::new(), summary.to_owned());
        GpuChoice { device, entries, cuda_dir: None, summary, obstacle: None }
    }
}

/// Returns the entry if it has files for this platform.
fn require_published_entry(id: &'static str) -> Result<Vec<&'static str>, String> {
    let has_files = embedded_manifest().find_model(id).is_some_and(|entry| !entry.files.is_empty());
    if has_files {
        return Ok(vec![id]);
    }
    Err("llama.cpp is not published for GPUs of this platform; `llama_library` takes your own build"
        .to_owned())
}

fn detect_nvidia(root: &Path) -> Option<NvidiaGpus> {
    let folder = root.join("proc/driver/nvidia");
    let version = std::fs::read_to_string(folder.join("version")).ok()?;
    let is_driver =
        |word: &&str| word.contains('.') && word.chars().all(|it| it.is_ascii_digit() || it == '.');
    let driver = version.lines().next()?.split_whitespace().find(is_driver)?.to_owned();
    let gpus = folder.join("gpus");
    let mut models: Vec<String> = list_file_names(&gpus)
        .iter()
        .filter_map(|name| std::fs::read_to_string(gpus.join(name).join("information")).ok())
        .filter_map(|text| {
            Some(text.lines().find_map(|it| it.strip_prefix("Model:"))?.trim().to_owned())
        })
        .collect();
    models.sort();
    if models.is_empty() {
        models.push("an NVIDIA GPU".to_owned());
    }
    Some(NvidiaGpus { driver, models })
}

fn list_file_names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests;
