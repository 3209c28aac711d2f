//! Removes root, privileges, and access to files, network and other programs.

use std::io;

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope,
};

use super::system_calls;
use crate::unprivileged::{UnprivilegedUser, drop_capabilities};

/// Restrictions of the newest kernels. Older ones apply those that they know.
const LANDLOCK: ABI = ABI::V6;

/// Confines this process; returns descriptions of what the kernel does not support.
pub(super) fn confine_process() -> io::Result<Vec<String>> {
    rustix::thread::set_no_new_privs(true)?;
    let mut missing = Vec::new();
    if let Err(error) = UnprivilegedUser::READER.replace_root() {
        missing.push(format!("it stays the user root: {error}"));
    }
    if let Err(error) = drop_capabilities() {
        missing.push(format!("it keeps its capabilities: {error}"));
    }
    match restrict_access() {
        Ok(RulesetStatus::FullyEnforced) => {}
        Ok(RulesetStatus::PartiallyEnforced) => {
            missing.push("this kernel supports only an older landlock version".to_owned());
        }
        Ok(RulesetStatus::NotEnforced) => missing.push("this kernel has no landlock".to_owned()),
        Err(error) => missing.push(format!("landlock: {error}")),
    }
    if let Err(error) = system_calls::install_filter() {
        missing.push(format!("seccomp: {error}"));
    }
    Ok(missing)
}

fn restrict_access() -> Result<RulesetStatus, RulesetError> {
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))?
        .handle_access(AccessNet::from_all(LANDLOCK))?
        .scope(Scope::from_all(LANDLOCK))?;
    Ok(rules.create()?.restrict_self()?.ruleset)
}
