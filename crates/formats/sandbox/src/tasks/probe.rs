//! Probes what a child can still do. Used by `doctor` and the tests.

use std::fs::File;
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ReaderTask;
use crate::TaskBounds;

/// An action to attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfinementProbe {
    OpenFile,
    OpenSocket,
    StartProgram,
    /// Counts the environment variables.
    LookAround,
    /// Allocates and fills this number of bytes.
    TakeMemory(usize),
    /// Computes until it is killed.
    Compute,
    Panic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProbeOutcome {
    Refused,
    Done,
    /// The counted number.
    Count(usize),
}

impl ReaderTask for ConfinementProbe {
    type Outcome = ProbeOutcome;

    const BOUNDS: TaskBounds = TaskBounds {
        memory_bytes: 64 * 1024 * 1024,
        cpu_s: 1,
        time: Duration::from_secs(5),
        answer_bytes: 1024,
    };

    fn perform(self, _: &[u8]) -> (ProbeOutcome, Vec<u8>) {
        let told = |is_done: bool| if is_done { ProbeOutcome::Done } else { ProbeOutcome::Refused };
        let outcome = match self {
            ConfinementProbe::OpenFile => told(File::open("/etc/passwd").is_ok()),
            ConfinementProbe::OpenSocket => told(TcpListener::bind("127.0.0.1:0").is_ok()),
            ConfinementProbe::StartProgram => told(Command::new("/bin/true").status().is_ok()),
            ConfinementProbe::LookAround => ProbeOutcome::Count(std::env::vars_os().count()),
            ConfinementProbe::TakeMemory(bytes) => {
                told(std::hint::black_box(vec![1_u8; bytes]).len() == bytes)
            }
            ConfinementProbe::Compute => loop {
                std::hint::black_box(0);
            },
            #[expect(clippy::panic, reason = "it is what is tried")]
            ConfinementProbe::Panic => panic!("a probe"),
        };
        (outcome, Vec::new())
    }
}
