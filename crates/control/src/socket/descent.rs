//! Whether a process was started by this one, or by one that was: an engine or a reader runs what
//! others wrote, and has nothing to tell us.

use std::fs;

/// More generations than there are anywhere.
const GENERATIONS_MAX: usize = 64;

/// Whether `process` descends from `ancestor`. A process whose parents cannot be told is taken for
/// one that does.
pub(super) fn descends_from(process: u32, ancestor: u32) -> bool {
    let mut current = process;
    for _ in 0..GENERATIONS_MAX {
        match parent(current) {
            // What starts all others, or somebody outside of our container.
            Some(0) => return false,
            Some(parent) if parent == ancestor => return true,
            Some(parent) => current = parent,
            None => return true,
        }
    }
    true
}

/// The fourth field of `stat`; the second is a name in parentheses, which may hold anything.
fn parent(process: u32) -> Option<u32> {
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
