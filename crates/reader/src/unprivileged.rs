//! Gives up root and its capabilities, for processes that open what strangers made.

use rustix::fs::{Gid, Uid};
use rustix::process::getuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_thread_gid, set_thread_groups,
    set_thread_uid,
};

/// A user that owns nothing and that no service runs as.
///
/// The numbers 65520 to 65533 belong to no distribution and to no dynamic user of systemd, and are
/// there in containers, which often have 65536 users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnprivilegedUser(u32);

impl UnprivilegedUser {
    pub const BROWSER: UnprivilegedUser = UnprivilegedUser(65_521);
    pub const READER: UnprivilegedUser = UnprivilegedUser(65_522);

    /// Becomes this user, for good, if the process is root's. Must be called before any thread is
    /// started: the kernel changes one thread alone.
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

/// Gives up every capability. A process that keeps the user root for want of one has no more rights
/// than others then, but for the files of root.
pub fn drop_capabilities() -> std::io::Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}
