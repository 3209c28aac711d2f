//! The engine's process: started, and ended.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};

/// How long an engine may take to end after it was asked to.
const END_WAIT: Duration = Duration::from_secs(3);

/// How the engine is started.
#[derive(Debug, Clone)]
pub struct Plan {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// All that it has of an environment: ours holds secrets that it has no use for.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it will listen, in a folder that only this user may enter.
    pub socket: PathBuf,
}

impl Plan {
    /// Starts it. It ends when its standard input does, and so when we die, however we die.
    pub(crate) fn start(&self) -> io::Result<Child> {
        if let Some(folder) = self.socket.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        // What an engine that was killed left would look like one that listens.
        match std::fs::remove_file(&self.socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // Ctrl-C in a terminal goes to a whole group; the engine must outlive the answers
            // that are under way.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// Waits for a process whose standard input was closed, and ends it if it does not.
pub(crate) async fn end(mut child: Child) {
    if tokio::time::timeout(END_WAIT, child.wait()).await.is_ok() {
        return;
    }
    if let Err(error) = child.kill().await {
        tracing::warn!(%error, "the engine could not be ended: {error}");
    }
}

/// How a process ended, in words.
pub(crate) fn describe_exit(ended: io::Result<ExitStatus>) -> String {
    match ended {
        Ok(status) => format!("it ended with {status}"),
        Err(error) => format!("it cannot be watched: {error}"),
    }
}
