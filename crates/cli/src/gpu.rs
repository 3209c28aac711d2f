//! Chooses the GPU for text models, and the files to download for it.

use std::path::{Path, PathBuf};

use config::sections::engine as section;
use weights::manifest;

use crate::engine::Device;

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
pub(crate) struct Seen {
    nvidia: Option<Nvidia>,
    /// True if there is a render device and a Vulkan driver.
    has_vulkan: bool,
    /// The folder of the installed CUDA libraries.
    cuda_dir: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Nvidia {
    driver: String,
    models: Vec<String>,
}

/// The device selected from the configuration and the hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) device: Device,
    /// Manifest entries to download before text models.
    pub(crate) entries: Vec<&'static str>,
    pub(crate) cuda_dir: Option<PathBuf>,
    /// A description of the device.
    pub(crate) summary: String,
    /// The reason why a requested or existing GPU cannot be used.
    pub(crate) obstacle: Option<String>,
}

impl Seen {
    /// Inspects the machine. `root` is `/`; `library_path` is the value of `LD_LIBRARY_PATH`.
    pub(crate) fn at(root: &Path, library_path: Option<&str>) -> Seen {
        let is_named = |path: &PathBuf| path.join(CUDA_LIBRARY).exists();
        let first = library_path.unwrap_or_default().split(':').filter(|it| !it.is_empty());
        let first = first.map(PathBuf::from);
        let usual = CUDA_DIRS.iter().map(|folder| root.join(folder));
        let has_device = names(&root.join("dev/dri")).iter().any(|it| it.starts_with("renderD"));
        let has_driver = VULKAN_DIRS.iter().any(|folder| !names(&root.join(folder)).is_empty());
        Seen {
            nvidia: nvidia(root),
            has_vulkan: has_device && has_driver,
            cuda_dir: first.chain(usual).find(is_named),
        }
    }
}

impl Choice {
    /// Selects the device. The operator's own library needs no downloads.
    pub(crate) fn of(wanted: section::Device, has_own_library: bool, seen: &Seen) -> Choice {
        if has_own_library {
            let device = if wanted == section::Device::Cpu { Device::Cpu } else { Device::Auto };
            return Choice::without_parts(device, "what your llama.cpp library computes on");
        }
        match wanted {
            section::Device::Cpu => Choice::without_parts(Device::Cpu, "the processor, as set"),
            section::Device::Cuda => Choice::cuda(seen).unwrap_or_else(Choice::obstructed),
            section::Device::Vulkan => Choice::vulkan(seen).unwrap_or_else(Choice::obstructed),
            section::Device::Auto => Choice::best(seen),
        }
    }

    fn best(seen: &Seen) -> Choice {
        match (Choice::cuda(seen), Choice::vulkan(seen)) {
            (Ok(choice), _) | (Err(_), Ok(choice)) => choice,
            (Err(obstacle), Err(_)) if seen.nvidia.is_some() => Choice::obstructed(obstacle),
            _ => Choice::without_parts(Device::Auto, "the processor: no GPU was found"),
        }
    }

    fn cuda(seen: &Seen) -> Result<Choice, String> {
        let nvidia = seen.nvidia.as_ref().ok_or("no driver for NVIDIA GPUs is running")?;
        let driver = &nvidia.driver;
        let major = driver.split('.').next().and_then(|it| it.parse().ok()).unwrap_or(0);
        if major < DRIVER_MIN {
            return Err(format!(
                "the NVIDIA driver is {driver}, and llama.cpp needs {DRIVER_MIN} or newer"
            ));
        }
        let mut entries = published(CUDA_PART)?;
        if seen.cuda_dir.is_none() {
            entries.extend(published(CUDA_RUNTIME)?);
        }
        let models = nvidia.models.join(", ");
        Ok(Choice {
            device: Device::Cuda,
            entries,
            cuda_dir: seen.cuda_dir.clone(),
            summary: format!("{models} with CUDA, driver {driver}"),
            obstacle: None,
        })
    }

    fn vulkan(seen: &Seen) -> Result<Choice, String> {
        if !seen.has_vulkan {
            return Err("no GPU with a driver for Vulkan is there".to_owned());
        }
        let entries = published(VULKAN_PART)?;
        let summary = "a GPU with Vulkan".to_owned();
        Ok(Choice { device: Device::Vulkan, entries, cuda_dir: None, summary, obstacle: None })
    }

    fn obstructed(obstacle: String) -> Choice {
        let choice = Choice::without_parts(Device::Auto, "the processor");
        Choice { obstacle: Some(obstacle), ..choice }
    }

    fn without_parts(device: Device, summary: &str) -> Choice {
        let (entries, summary) = (Vec::new(), summary.to_owned());
        Choice { device, entries, cuda_dir: None, summary, obstacle: None }
    }
}

/// Returns the entry if it has files for this platform.
fn published(id: &'static str) -> Result<Vec<&'static str>, String> {
    let has_files = manifest().model(id).is_some_and(|entry| !entry.files.is_empty());
    if has_files {
        return Ok(vec![id]);
    }
    Err("llama.cpp is not published for GPUs of this platform; `llama_library` takes your own build"
        .to_owned())
}

fn nvidia(root: &Path) -> Option<Nvidia> {
    let folder = root.join("proc/driver/nvidia");
    let version = std::fs::read_to_string(folder.join("version")).ok()?;
    let is_driver =
        |word: &&str| word.contains('.') && word.chars().all(|it| it.is_ascii_digit() || it == '.');
    let driver = version.lines().next()?.split_whitespace().find(is_driver)?.to_owned();
    let gpus = folder.join("gpus");
    let mut models: Vec<String> = names(&gpus)
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
    Some(Nvidia { driver, models })
}

fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests;
