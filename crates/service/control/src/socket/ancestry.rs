//! Finds out if a process descends from this one. Engines and document readers run code of others
//! and must not use the control socket.

use std::fs;

/// Maximum parents that are followed.
const GENERATIONS_MAX: usize = 64;

/// True if `process` descends from `ancestor`, or if its parents cannot be read.
pub(super) fn descends_from(process: u32, ancestor: u32) -> bool {
    let mut current = process;
    for _ in 0..GENERATIONS_MAX {
        match read_parent_id(current) {
            // Parent 0 is the root of the process tree, or a process outside our container.
            Some(0) => return false,
            Some(parent) if parent == ancestor => return true,
            Some(parent) => current = parent,
            None => return true,
        }
    }
    true
}

/// The parent's id: the fourth field of `stat`. The second field is a name in parentheses, which
/// may contain any characters.
fn read_parent_id(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_and_their_children_descend_and_we_do_not_from_ourselves() {
        let ours = std::process::id();
        assert!(!descends_from(ours, ours));
        let mut shell = Command::new("sh")
            .args(["-c", "cat & echo $!; wait"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(descends_from(shell.id(), ours));
        assert!(!descends_from(ours, shell.id()));
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
