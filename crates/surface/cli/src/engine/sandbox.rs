//! Sandboxes the engine process before it loads a model: no new privileges, no other programs, no
//! network, no access to the service's files, and restricted write access.

mod readable;
mod system_calls;

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::EngineArgs;
use crate::failure::CommandError;

/// The newest Landlock version. Older kernels enforce the rules that they know.
const LANDLOCK: ABI = ABI::V6;
/// The limit of open files. Weights, the library, sockets and connections need a few dozen.
const FILES_MAX: u64 = 1024;
/// Writable folders, for compute devices and for libraries' temporary files.
const WRITTEN: [&str; 3] = ["/dev", "/tmp", "/proc/self"];
/// Memory that threads and libraries reserve in addition to the models.
const MEMORY_SLACK_BYTES: u64 = 4 << 30;

/// Sandboxes this process. Returns descriptions of the restrictions that the kernel does not
/// support.
pub(super) fn enter_sandbox(options: &EngineArgs) -> Result<Vec<String>, CommandError> {
    let failed = |error: io::Error| {
        CommandError::Failed(format!("the engine cannot enter its sandbox: {error}"))
    };
    rustix::thread::set_no_new_privs(true).map_err(|error| failed(error.into()))?;
    let memory_max = memory_max(options);
    for (resource, most) in
        [(Resource::Core, 0), (Resource::Nofile, FILES_MAX), (Resource::Data, memory_max)]
    {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| failed(error.into()))?;
    }
    let mut missing = match apply_landlock_rules(options) {
        Ok(RulesetStatus::FullyEnforced) => Vec::new(),
        Ok(RulesetStatus::PartiallyEnforced) => {
            vec!["this kernel supports only an older landlock version".to_owned()]
        }
        Ok(RulesetStatus::NotEnforced) => vec!["this kernel has no landlock".to_owned()],
        Err(error) => vec![format!("landlock: {error}")],
    };
    if let Err(error) = system_calls::block_system_calls() {
        missing.push(format!("seccomp: {error}"));
    }
    Ok(missing)
}

/// Returns the limit of the process's own memory; weights are mapped from files and do not count.
/// An engine that exceeds it fails instead of exhausting the machine.
fn memory_max(options: &EngineArgs) -> u64 {
    let models = options.memory_max_mb.map(|megabytes| megabytes.saturating_mul(1 << 20));
    let models = models.or_else(machine_bytes).unwrap_or(u64::MAX / 2);
    models.saturating_add(MEMORY_SLACK_BYTES)
}

fn machine_bytes() -> Option<u64> {
    let info = rustix::system::sysinfo();
    info.totalram.checked_mul(info.mem_unit.into())
}

/// Restricts file and network access: the process can read libraries and models but not hidden
/// files, write beside its socket, and neither start programs nor use TCP.
fn apply_landlock_rules(options: &EngineArgs) -> Result<RulesetStatus, RulesetError> {
    let writing = AccessFs::from_write(LANDLOCK);
    let reading: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let hidden = resolve_hidden_paths(options);
    let needed = [Some(options.models_dir.as_path()), options.socket.parent()];
    let library = options.llama_library.as_deref().and_then(Path::parent);
    let needed: Vec<&Path> = needed.into_iter().flatten().chain(library).collect();
    // A folder that contains hidden files does not get write access as a whole.
    let written = WRITTEN.iter().map(Path::new);
    let written = written.filter(|folder| !hidden.iter().any(|path| path.starts_with(folder)));
    Ok(Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?
        .add_rules(path_beneath_rules(readable::find_readable_paths(&hidden), reading))?
        .add_rules(path_beneath_rules(&needed, reading))?
        .add_rules(path_beneath_rules(written, reading | writing))?
        .add_rules(path_beneath_rules(options.socket.parent(), reading | writing))?
        .restrict_self()?
        .ruleset)
}

/// Returns the canonical paths of hidden files, which Landlock rules refer to.
fn resolve_hidden_paths(options: &EngineArgs) -> Vec<PathBuf> {
    options.hide.iter().filter_map(|path| path.canonicalize().ok()).collect()
}
