//! The service's handle of one browser and its keeper process.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;
use tokio_util::task::TaskTracker;

use super::devtools::DevToolsConnection;
use super::{BrowserError, BrowserSetup};

/// Time limit for the start, enough for a busy machine.
const START_TIME_MAX: Duration = Duration::from_secs(20);

/// The command of this program that runs a keeper.
#[derive(Debug, Clone)]
pub struct KeeperProgram {
    pub path: PathBuf,
    pub command: &'static str,
}

/// A started browser. Dropping it closes the keeper's input, and the keeper kills all processes of
/// the browser.
pub(super) struct RunningBrowser {
    pub(super) wire: DevToolsConnection,
    /// Pages rendered so far.
    pub(super) pages: usize,
}

impl RunningBrowser {
    pub(super) async fn start(
        setup: &BrowserSetup,
        tasks: &TaskTracker,
    ) -> Result<RunningBrowser, BrowserError> {
        let mut command = Command::new(&setup.keeper.path);
        command.arg(setup.keeper.command).arg("--program").arg(&setup.program);
        if !setup.sandbox {
            command.arg("--no-sandbox");
        }
        // An empty environment: ours may contain keys.
        command.env_clear().current_dir("/");
        if !rustix::process::getuid().is_root() {
            command.env("TMPDIR", std::env::temp_dir());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C in a terminal signals the whole process group, but requests in progress need the
        // browser.
        command.process_group(0);
        let child = command.spawn();
        let child = child.map_err(|error| BrowserError::NotStarted(error.to_string()))?;
        let wire = DevToolsConnection::open(child, START_TIME_MAX, tasks);
        match wire.call(None, "Browser.getVersion", json!({})).await {
            Ok(_) => Ok(RunningBrowser { wire, pages: 0 }),
            Err(BrowserError::Gone) => {
                Err(BrowserError::NotStarted(wire.last_error_output().await))
            }
            Err(error) => Err(BrowserError::NotStarted(error.to_string())),
        }
    }
}
