//! Tests of device selection for the files of machines with and without GPUs.

use super::*;

const H200: &str = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release \
                    Build  (root@host)\nGCC version:  gcc version 12.2.0\n";
const OLD: &str = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n";

/// A fake root folder with a machine's files.
struct Machine(tempfile::TempDir);

impl Machine {
    fn bare() -> Machine {
        Machine(tempfile::tempdir().unwrap())
    }

    fn with(self, path: &str, text: &str) -> Machine {
        let file = self.0.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    fn nvidia(version: &str) -> Machine {
        let gpu = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 42\n";
        Machine::bare()
            .with("proc/driver/nvidia/version", version)
            .with("proc/driver/nvidia/gpus/0000:01:00.0/information", gpu)
    }

    fn choice(&self, device: section::Device) -> Choice {
        Choice::of(device, false, &Seen::at(self.0.path(), None))
    }
}

#[test]
fn a_machine_without_a_gpu_computes_on_its_processor() {
    let machine = Machine::bare();
    let choice = machine.choice(section::Device::Auto);
    assert_eq!((choice.device, choice.entries.len(), choice.obstacle), (Device::Auto, 0, None));
    let asked = machine.choice(section::Device::Cuda);
    assert_eq!(asked.device, Device::Auto);
    assert_eq!(asked.obstacle.unwrap(), "no driver for NVIDIA GPUs is running");
    assert!(machine.choice(section::Device::Vulkan).obstacle.is_some());
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_nvidia_gpu_is_taken_and_cudas_libraries_are_fetched_where_there_are_none() {
    let machine = Machine::nvidia(H200);
    let choice = machine.choice(section::Device::Auto);
    assert_eq!(choice.device, Device::Cuda);
    assert_eq!(choice.entries, [CUDA_PART, CUDA_RUNTIME]);
    assert_eq!(choice.summary, "NVIDIA H200 with CUDA, driver 580.159.04");
    assert_eq!(machine.choice(section::Device::Cpu).device, Device::Cpu);

    let machine = machine.with("usr/local/cuda/lib64/libcublas.so.12", "");
    let choice = machine.choice(section::Device::Auto);
    assert_eq!(choice.entries, [CUDA_PART]);
    assert_eq!(choice.cuda_dir.unwrap(), machine.0.path().join("usr/local/cuda/lib64"));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn an_old_driver_is_told_and_vulkan_taken_where_it_is_there() {
    let machine = Machine::nvidia(OLD);
    let choice = machine.choice(section::Device::Auto);
    assert_eq!(choice.device, Device::Auto);
    assert_eq!(
        choice.obstacle.unwrap(),
        "the NVIDIA driver is 535.104.05, and llama.cpp needs 550 or newer"
    );
    let machine =
        machine.with("dev/dri/renderD128", "").with("usr/share/vulkan/icd.d/nvidia_icd.json", "{}");
    let choice = machine.choice(section::Device::Auto);
    assert_eq!((choice.device, choice.entries), (Device::Vulkan, vec![VULKAN_PART]));
}

#[test]
fn the_operators_own_library_needs_no_part_of_ours() {
    let seen = Seen::at(Machine::nvidia(H200).0.path(), None);
    let choice = Choice::of(section::Device::Auto, true, &seen);
    assert_eq!((choice.device, choice.entries.len()), (Device::Auto, 0));
    assert_eq!(Choice::of(section::Device::Cpu, true, &seen).device, Device::Cpu);
}
