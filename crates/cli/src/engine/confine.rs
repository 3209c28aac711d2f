//! What the engine's process gives up before it loads a model: new rights, the network, and writing
//! anywhere but where it must.

use std::io;

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::Options;
use crate::failure::Failure;

/// What the newest kernels can hold back. Older ones hold back what they know.
const LANDLOCK: ABI = ABI::V6;
/// Weights, the library, sockets and connections take a few dozen.
const FILES_MAX: u64 = 1024;
/// Devices that compute, and what libraries note for themselves.
const WRITTEN: [&str; 3] = ["/dev", "/tmp", "/proc/self"];

/// Locks this process in, and gives back in words what the kernel does not have for that.
pub(super) fn confine(options: &Options) -> Result<Vec<String>, Failure> {
    let failed =
        |error: io::Error| Failure::Failed(format!("the engine cannot lock itself in: {error}"));
    rustix::thread::set_no_new_privs(true).map_err(|error| failed(error.into()))?;
    for (resource, most) in [(Resource::Core, 0), (Resource::Nofile, FILES_MAX)] {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).map_err(|error| failed(error.into()))?;
    }
    Ok(match landlock(options) {
        Ok(RulesetStatus::FullyEnforced) => Vec::new(),
        Ok(RulesetStatus::PartiallyEnforced) => {
            vec!["this kernel's landlock is older than ours".to_owned()]
        }
        Ok(RulesetStatus::NotEnforced) => vec!["this kernel has no landlock".to_owned()],
        Err(error) => vec![format!("landlock: {error}")],
    })
}

/// It reads what it likes, for libraries look everywhere; it writes beside its socket, and speaks
/// to nobody by TCP.
fn landlock(options: &Options) -> Result<RulesetStatus, RulesetError> {
    let writing = AccessFs::from_write(LANDLOCK);
    let mut rules = Ruleset::default()
        .handle_access(writing)?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?
        .create()?;
    let socket_folder = options.socket.parent().into_iter();
    let written = WRITTEN.iter().map(std::path::Path::new).chain(socket_folder);
    for folder in written.filter_map(|path| PathFd::new(path).ok()) {
        rules = rules.add_rule(PathBeneath::new(folder, writing))?;
    }
    Ok(rules.restrict_self()?.ruleset)
}
