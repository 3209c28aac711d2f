//! Tests of device selection for the files of machines with and without GPUs.

use super::*;

const H200: &str = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release \
                    Build  (root@host)\nGCC version:  gcc version 12.2.0\n";
const OLD: &str = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n";

/// A fake root folder with a machine's files.
struct FakeMachine(tempfile::TempDir);

impl FakeMachine {
    fn bare() -> FakeMachine {
        FakeMachine(tempfile::tempdir().unwrap())
    }

    fn with(self, path: &str, text: &str) -> FakeMachine {
        let file = self.0.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    fn nvidia(version: &str) -> FakeMachine {
        let gpu = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 42\n";
        FakeMachine::bare()
            .with("proc/driver/nvidia/version", version)
            .with("proc/driver/nvidia/gpus/0000:01:00.0/information", gpu)
    }

    fn choice(&self, device: section::DeviceSetting) -> GpuChoice {
        GpuChoice::select(device, false, &DetectedGpus::detect(self.0.path(), None))
    }
}

#[test]
fn a_machine_without_a_gpu_computes_on_its_processor() {
    let machine = FakeMachine::bare();
    let choice = machine.choice(section::DeviceSetting::Auto);
    assert_eq!(
        (choice.device, choice.entries.len(), choice.obstacle),
        (EngineDevice::Auto, 0, None)
    );
    let asked = machine.choice(section::DeviceSetting::Cuda);
    assert_eq!(asked.device, EngineDevice::Auto);
    assert_eq!(asked.obstacle.unwrap(), "no driver for NVIDIA GPUs is running");
    assert!(machine.choice(section::DeviceSetting::Vulkan).obstacle.is_some());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_nvidia_gpu_is_taken_and_cudas_libraries_are_fetched_where_there_are_none() {
    let machine = FakeMachine::nvidia(H200);
    let choice = machine.choice(section::DeviceSetting::Auto);
    assert_eq!(choice.device, EngineDevice::Cuda);
    assert_eq!(choice.entries, [CUDA_PART, CUDA_RUNTIME]);
    assert_eq!(choice.summary, "NVIDIA H200 with CUDA, driver 580.159.04");
    assert_eq!(machine.choice(section::DeviceSetting::Cpu).device, EngineDevice::Cpu);

    let machine = machine.with("usr/local/cuda/lib64/libcublas.so.12", "");
    let choice = machine.choice(section::DeviceSetting::Auto);
    assert_eq!(choice.entries, [CUDA_PART]);
    assert_eq!(choice.cuda_dir.unwrap(), machine.0.path().join("usr/local/cuda/lib64"));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_old_driver_is_told_and_vulkan_taken_where_it_is_there() {
    let machine = FakeMachine::nvidia(OLD);
    let choice = machine.choice(section::DeviceSetting::Auto);
    assert_eq!(choice.device, EngineDevice::Auto);
    assert_eq!(
        choice.obstacle.unwrap(),
        "the NVIDIA driver is 535.104.05, and llama.cpp needs 550 or newer"
    );
    let machine =
        machine.with("dev/dri/renderD128", "").with("usr/share/vulkan/icd.d/nvidia_icd.json", "{}");
    let choice = machine.choice(section::DeviceSetting::Auto);
    assert_eq!((choice.device, choice.entries), (EngineDevice::Vulkan, vec![VULKAN_PART]));
}

#[test]
fn the_operators_own_library_needs_no_part_of_ours() {
    let seen = DetectedGpus::detect(FakeMachine::nvidia(H200).0.path(), None);
    let choice = GpuChoice::select(section::DeviceSetting::Auto, true, &seen);
    assert_eq!((choice.device, choice.entries.len()), (EngineDevice::Auto, 0));
    assert_eq!(
        GpuChoice::select(section::DeviceSetting::Cpu, true, &seen).device,
        EngineDevice::Cpu
    );
}
