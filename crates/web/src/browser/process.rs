//! The browser's process: started with nothing it could reach, ended when nobody needs it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;

use super::wire::Wire;
use super::{BrowserError, BrowserSetup};

const START_TIME_MAX: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

const FLAGS: [&str; 26] = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    // A page is fetched as it was named: what must not be plain says so itself.
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
    "--disable-gpu",
    "--disable-popup-blocking",
    "--disable-sync",
    "--disable-translate",
    "--metrics-recording-only",
    "--mute-audio",
    // Whatever is not fetched for it ends here: nobody listens on this port, and no name is known.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=256",
];

/// A browser that answers.
pub(super) struct Running {
    pub(super) wire: Wire,
    /// Killed when this is dropped.
    _child: Child,
    _profile: TempDir,
}

impl Running {
    pub(super) async fn start(
        setup: &BrowserSetup,
        tasks: &TaskTracker,
    ) -> Result<Running, BrowserError> {
        let failed = |cause: String| BrowserError::NotStarted(cause);
        let profile = tempfile::Builder::new().prefix("tollgate-browser").tempdir();
        let profile = profile.map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(&setup.program);
        command.args(FLAGS);
        if !setup.sandbox {
            command.arg("--no-sandbox");
        }
        let mut user_data = std::ffi::OsString::from("--user-data-dir=");
        user_data.push(profile.path());
        command.arg(user_data).arg("about:blank");
        // It gets nothing of ours: the environment may hold keys.
        command.env_clear().env("HOME", profile.path()).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let place = listening(&mut child, profile.path()).await?;
        let (port, path) = place;
        let stream = TcpStream::connect(("127.0.0.1", port)).await;
        let stream = stream.map_err(|error| failed(error.to_string()))?;
        let wire = Wire::open(stream, &format!("ws://127.0.0.1:{port}{path}"), tasks).await?;
        Ok(Running { wire, _child: child, _profile: profile })
    }
}

/// Where the browser says that it can be spoken to: a port, and a path that others cannot guess.
async fn listening(child: &mut Child, profile: &Path) -> Result<(u16, String), BrowserError> {
    let deadline = Instant::now() + START_TIME_MAX;
    let file = profile.join("DevToolsActivePort");
    while Instant::now() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(BrowserError::NotStarted(format!(
                "it ended with {status}; as root it only runs with `sandbox = false` in [scrape]"
            )));
        }
        let text = tokio::task::spawn_blocking({
            let file = file.clone();
            move || std::fs::read_to_string(file)
        });
        if let Ok(Ok(text)) = text.await
            && let Some((port, path)) = text.trim().split_once('\n')
            && let Ok(port) = port.trim().parse()
        {
            return Ok((port, path.trim().to_owned()));
        }
        sleep(LOOK_AGAIN).await;
    }
    Err(BrowserError::NotStarted("it does not say where it listens".to_owned()))
}
