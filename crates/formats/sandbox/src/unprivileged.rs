//! Gives up root and its capabilities, for processes that parse untrusted input.

use rustix::fs::{Gid, Uid};
use rustix::process::getuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_thread_gid, set_thread_groups,
    set_thread_uid,
};

/// A user that owns nothing and that no service uses.
///
/// The ids 65520 to 65533 are used by no distribution and no dynamic user of systemd, and exist in
/// containers, which often have 65536 ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnprivilegedUser(u32);

impl UnprivilegedUser {
    pub const BROWSER: UnprivilegedUser = UnprivilegedUser(65_521);
    pub const READER: UnprivilegedUser = UnprivilegedUser(65_522);

    /// Switches permanently to this user if the process runs as root. Must be called before any
    /// thread is started: the kernel changes only the calling thread.
    pub fn replace_root(self) -> std::io::Result<()> {
        if !getuid().is_root() {
            return Ok(());
        }
        set_thread_groups(&[])?;
        set_thread_gid(Gid::from_raw(self.0))?;
        set_thread_uid(Uid::from_raw(self.0))?;
        Ok(())
    }
}

/// Drops all capabilities. A process that must stay root then has no more rights than others,
/// except access to root's files.
pub fn drop_capabilities() -> std::io::Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}
