//! Checks that the built-in models can run here: processor, GPU, disk space and files.

use std::path::Path;

use config::read::ServiceConfig;
use weights::{DownloadState, EntryKind, embedded_manifest};

use super::CheckFinding;
use crate::command_environment::CommandEnvironment;
use crate::engine::BuiltInEngine;
use crate::gpu;
use crate::local::LocalEngine;

const MEGABYTE: u64 = 1_000_000;

pub(crate) fn check_built_in_models(
    surroundings: &CommandEnvironment,
    engine: BuiltInEngine,
    config: &ServiceConfig,
) -> Vec<CheckFinding> {
    let local = match LocalEngine::from_config(engine, surroundings, config) {
        Ok(Some(local)) => local,
        Ok(None) => return vec![CheckFinding::ok("built-in models", "none in use")],
        Err(failure) => {
            let fix = "correct the reported fault, or set `local = \"off\"` in [engine]";
            return vec![CheckFinding::failed("built-in models", failure.to_string(), fix)];
        }
    };
    let mut findings = vec![check_processor(), check_compute_device(&local.gpu)];
    let defaults =
        embedded_manifest().models().filter(|it| it.default && it.kind != EntryKind::Library);
    let (ready, missing): (Vec<_>, Vec<_>) =
        defaults.partition(|files| local.puller.model_state(&files.id) == DownloadState::Ready);
    let count = ready.len() + missing.len();
    let missing_bytes: u64 = missing.iter().map(|files| files.total_bytes()).sum();
    findings.extend(check_disk_space(&surroundings.data_dir.path, missing_bytes));
    findings.push(if missing.is_empty() {
        CheckFinding::ok("built-in models", format!("all {count} default models are downloaded"))
    } else {
        let found = format!("{} of {count} default models are downloaded", ready.len());
        let fix = "run `tollgate models pull`; the service also downloads them at startup";
        CheckFinding::warning("built-in models", found, fix)
    });
    findings
}

#[cfg(target_arch = "x86_64")]
fn check_processor() -> CheckFinding {
    let features = [
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("f16c", std::arch::is_x86_feature_detected!("f16c")),
    ];
    let missing: Vec<&str> = features.iter().filter(|(_, has)| !has).map(|(it, _)| *it).collect();
    if missing.is_empty() {
        return CheckFinding::ok("processor", "supports the instructions that fast models need");
    }
    let found = format!("lacks {}", missing.join(", "));
    CheckFinding::warning(
        "processor",
        found,
        "run models on another machine: the built-in engine needs these instructions",
    )
}

#[cfg(not(target_arch = "x86_64"))]
fn check_processor() -> CheckFinding {
    CheckFinding::ok("processor", std::env::consts::ARCH)
}

fn check_compute_device(gpu: &gpu::GpuChoice) -> CheckFinding {
    match &gpu.obstacle {
        None => CheckFinding::ok("text models run on", gpu.summary.clone()),
        Some(obstacle) => {
            let found = format!("{}: {obstacle}", gpu.summary);
            let fix = "install the driver, or set `device = \"cpu\"` in [engine]";
            CheckFinding::warning("text models run on", found, fix)
        }
    }
}

/// Checks the disk space. Archives are unpacked beside the files, so twice the size is needed
/// temporarily.
fn check_disk_space(data_dir: &Path, missing_bytes: u64) -> Option<CheckFinding> {
    let place = data_dir.ancestors().find(|it| it.exists())?;
    let free = rustix::fs::statvfs(place).ok()?;
    let free_bytes = free.f_bavail.saturating_mul(free.f_frsize);
    let found = format!("{} MB free", free_bytes / MEGABYTE);
    if missing_bytes.saturating_mul(2) <= free_bytes {
        return Some(CheckFinding::ok("disk space for models", found));
    }
    let wanted = missing_bytes.saturating_mul(2) / MEGABYTE;
    let fix = format!("make {wanted} MB free, or set `models_dir` in [engine] to a larger disk");
    Some(CheckFinding::failed("disk space for models", found, fix))
}
