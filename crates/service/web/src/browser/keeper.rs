//! The process between the service and one browser: `tollgate browser`.
//!
//! It drops root privileges, starts the browser, and forwards the messages between both. It kills
//! all descendants of this process when they exceed the limits of memory or of processes, when the
//! browser ends, and when the service closes the pipe, even by being killed. Each of them is waited
//! for.

mod process_tree;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Resource, Rlimit, WaitOptions, getpid, set_child_subreaper, setrlimit, wait,
};
use sandbox::unprivileged::{UnprivilegedUser, drop_capabilities};

use self::process_tree::{TreeUse, kill_descendants};

/// Memory limit of all processes of a browser while it renders a page. An idle browser takes 200
/// MB, and one with a large page 400 MB.
const MEMORY_BYTES_MAX: u64 = 1280 * 1024 * 1024;
/// A browser with one page has eleven processes.
const PROCESSES_MAX: usize = 24;
/// The kernel's limit for one process, which holds between two measurements of all processes.
const DATA_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Maximum size of a file, such as shared memory.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A browser without messages for longer than a page may take is idle.
const BUSY_FOR: Duration = Duration::from_secs(30);
const LOOK_AT_IDLE_EVERY: Duration = Duration::from_secs(1);
const COPIED_BYTES: usize = 64 * 1024;
/// The browser uses the descriptors 3 and 4.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

const FLAGS: [&str; 26] = [
    "--headless=new",
    "--remote-debugging-pipe",
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
    // Pages are fetched with the scheme that the caller wrote. Frames of other sites get no
    // processes of their own, because a page could have any number of frames.
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,IsolateOrigins,site-per-process",
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
    "--disable-gpu",
    "--disable-sync",
    "--disable-translate",
    "--metrics-recording-only",
    "--mute-audio",
    // All traffic that is not intercepted ends here: nothing listens on this port, and no name
    // resolves.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=256",
];

/// The browser to start.
#[derive(Debug, Clone)]
pub struct KeeperOptions {
    pub program: PathBuf,
    /// The browser's own sandbox, which needs user namespaces.
    pub has_sandbox: bool,
}

/// The reason why a keeper ended its browser, other than a request of the service.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("a page used {0} MB of memory, more than allowed")]
    Memory(u64),
    #[error("a page had {0} processes, more than allowed")]
    Processes(usize),
    #[error("the browser ended")]
    BrowserEnded,
    #[error("/proc hides processes (hidepid), so the processes of a browser cannot be limited")]
    HiddenProcesses,
}

/// Runs one browser until the service closes the pipe. Must be called before any thread starts.
pub fn run_keeper(order: &KeeperOptions) -> Result<(), KeeperError> {
    // Makes the kernel kill this process before the service when memory is short. May fail.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    if process_tree::is_hidden(&fs::read_to_string("/proc/self/mounts")?) {
        return Err(KeeperError::HiddenProcesses);
    }
    set_limit(Resource::Core, 0)?;
    set_limit(Resource::Data, DATA_BYTES_MAX)?;
    set_limit(Resource::Fsize, FILE_BYTES_MAX)?;
    UnprivilegedUser::BROWSER.replace_root()?;
    drop_capabilities()?;
    rustix::thread::set_no_new_privs(true).map_err(io::Error::from)?;
    set_child_subreaper(Some(getpid())).map_err(io::Error::from)?;
    let profile = tempfile::Builder::new().prefix("tollgate-browser").tempdir()?;
    let kept = start_browser(order, profile.path()).and_then(WatchedBrowser::watch_until_end);
    kill_descendants();
    kept
}

fn set_limit(resource: Resource, most: u64) -> io::Result<()> {
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// A running browser.
struct WatchedBrowser {
    browser: Pid,
    /// The time of the last message from the service.
    activity: Arc<LastActivity>,
    /// Receives a message when either side has closed.
    closed: mpsc::Receiver<()>,
}

fn start_browser(order: &KeeperOptions, profile: &Path) -> Result<WatchedBrowser, KeeperError> {
    let (from_service, mut to_browser) = io::pipe()?;
    let (mut from_browser, to_service) = io::pipe()?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(START).arg(&order.program).args(FLAGS);
    if !order.has_sandbox {
        command.arg("--no-sandbox");
    }
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(profile);
    command.arg(user_data).arg("about:blank");
    command.env_clear().env("HOME", profile).env("TMPDIR", profile).env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::from(from_service)).stdout(Stdio::from(to_service));
    let child = command.spawn()?;
    // The command holds the browser's ends of the pipes, which would then never close.
    drop(command);
    let browser = Pid::from_child(&child);

    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (closing, closed) = mpsc::channel();
    let closing_too = closing.clone();
    let activity = Arc::new(LastActivity::new());
    let noted = Arc::clone(&activity);
    thread::Builder::new().spawn(move || {
        let _ = pass_on(&mut input, &mut to_browser, &noted);
        let _ = closing.send(());
    })?;
    thread::Builder::new().spawn(move || {
        let _ = io::copy(&mut from_browser, &mut output);
        let _ = closing_too.send(());
    })?;
    Ok(WatchedBrowser { browser, activity, closed })
}

/// The time of the last message from the service.
struct LastActivity(Mutex<Instant>);

impl LastActivity {
    fn new() -> LastActivity {
        LastActivity(Mutex::new(Instant::now()))
    }

    fn record_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn age(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

fn pass_on(from: &mut impl Read, to: &mut impl Write, activity: &LastActivity) -> io::Result<()> {
    let mut buffer = vec![0; COPIED_BYTES];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        activity.record_now();
        to.write_all(&buffer[..length])?;
    }
}

impl WatchedBrowser {
    fn watch_until_end(self) -> Result<(), KeeperError> {
        loop {
            let pause =
                if self.activity.age() < BUSY_FOR { LOOK_EVERY } else { LOOK_AT_IDLE_EVERY };
            match self.closed.recv_timeout(pause) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.has_ended() {
                return Err(KeeperError::BrowserEnded);
            }
            let TreeUse { processes, memory_bytes } = TreeUse::measure()?;
            if MEMORY_BYTES_MAX < memory_bytes {
                return Err(KeeperError::Memory(memory_bytes / 1_000_000));
            }
            if PROCESSES_MAX < processes {
                return Err(KeeperError::Processes(processes));
            }
        }
    }

    /// Reaps all ended processes; true if the browser is one of them.
    fn has_ended(&self) -> bool {
        let mut has_ended = false;
        while let Ok(Some((process, _))) = wait(WaitOptions::NOHANG) {
            has_ended |= process == self.browser;
        }
        has_ended
    }
}
