//! Starts and stops the engine's process.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};

/// Time that the engine has to exit before it is killed.
const END_WAIT: Duration = Duration::from_secs(3);

/// The engine's command line, environment and socket.
#[derive(Debug, Clone)]
pub struct EngineCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The complete environment. Ours is not inherited, because it holds secrets.
    pub environment: Vec<(OsString, OsString)>,
    /// The socket to listen on, in a directory that only this user can access.
    pub socket: PathBuf,
}

impl EngineCommand {
    /// Starts the process. It exits when its standard input closes, so it also ends if this process
    /// dies in any way.
    pub(crate) fn start(&self) -> io::Result<Child> {
        if let Some(folder) = self.socket.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        // A stale socket of a killed engine would look like a listening one.
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
            // Ctrl-C in a terminal signals the whole process group; the engine must live until the
            // requests in progress have finished.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// Waits for a process whose standard input was closed; kills it after `END_WAIT`.
pub(crate) async fn await_exit(mut child: Child) {
    if tokio::time::timeout(END_WAIT, child.wait()).await.is_ok() {
        return;
    }
    if let Err(error) = child.kill().await {
        tracing::warn!(%error, "the engine could not be stopped: {error}");
    }
}

/// Describes how a process ended.
pub(crate) fn describe_exit(ended: io::Result<ExitStatus>) -> String {
    match ended {
        Ok(status) => format!("it ended with {status}"),
        Err(error) => format!("it cannot be watched: {error}"),
    }
}
