//! Tests the supervisor with a short Python script as the engine.

use std::path::Path;

use super::*;

/// Answers `/health` until its standard input closes, unless a file in its folder changes its
/// behaviour.
const CHILD: &str = r#"
import http.server, json, os, socketserver, sys, threading
path = sys.argv[1]
folder = os.path.dirname(path)
with open(os.path.join(folder, "starts"), "a") as starts:
    starts.write(f"{os.getpid()}\n")
with open(os.path.join(folder, "environment"), "w") as environment:
    environment.write(" ".join(sorted(os.environ)))
if os.path.exists(os.path.join(folder, "fail")):
    sys.exit(7)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        models = [{"id": "a", "type": "text", "state": "loaded", "memory_bytes": 5,
                   "gpu_layers": 3, "layers": 4},
                  {"id": "b", "type": "text", "state": "idle", "memory_bytes": None}]
        gpus = [{"name": "CUDA0", "model": "a GPU", "free_bytes": 1, "total_bytes": 2}]
        body = json.dumps({"status": "ok", "models": models, "gpus": gpus}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
    def address_string(self):
        return "local"
server = socketserver.ThreadingUnixStreamServer(path, Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.buffer.read()
"#;

const PATIENCE: Duration = Duration::from_secs(30);

struct SupervisorFixture {
    folder: tempfile::TempDir,
    status: StatusCell,
    stop: CancellationToken,
    supervisor: tokio::task::JoinSet<()>,
}

impl SupervisorFixture {
    fn start(prepare: impl FnOnce(&Path)) -> SupervisorFixture {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let socket = folder.path().join("s");
        let plan = EngineCommand {
            program: "python3".into(),
            arguments: vec!["-c".into(), CHILD.into(), socket.clone().into()],
            environment: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
            socket,
        };
        let (status, stop) = (StatusCell::default(), CancellationToken::new());
        let mut supervisor = tokio::task::JoinSet::new();
        supervisor.spawn(supervise_engine(plan, status.clone(), Box::new(|| 0), stop.clone()));
        SupervisorFixture { folder, status, stop, supervisor }
    }

    /// Waits until the status satisfies `is_wanted`.
    async fn until(&self, is_wanted: impl Fn(&crate::EngineStatus) -> bool) -> crate::EngineStatus {
        let wait = async {
            loop {
                let status = self.status.get();
                if is_wanted(&status) {
                    return status;
                }
                sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("the status comes in time")
    }

    /// The ids of the started processes, in order.
    fn starts(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.folder.path().join("starts")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    async fn stop(mut self) -> Vec<u32> {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.supervisor.join_next()).await.unwrap();
        self.starts()
    }
}

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

fn kill(process: u32) {
    let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
    assert!(killed.unwrap().success());
}

#[tokio::test]
async fn an_engine_that_answers_is_up_and_ends_with_us() {
    let stage = SupervisorFixture::start(|_| ());
    let status = stage.until(|status| status.state == ProcessState::Up).await;
    let environment = std::fs::read_to_string(stage.folder.path().join("environment")).unwrap();
    // Where `python3` is a shell script, the shell and the script add variables.
    let is_shells = |name: &str| {
        ["LC_CTYPE", "PATH", "PWD", "SHLVL", "_"].contains(&name) || name.contains("PYENV_")
    };
    let ours: Vec<_> = environment.split(' ').filter(|name| !is_shells(name)).collect();
    assert!(ours.is_empty(), "it has nothing but what it was given: {ours:?}");
    let loaded =
        crate::LoadedModel { id: "a".to_owned(), memory_bytes: 5, gpu_layers: Some((3, 4)) };
    assert_eq!(status.models, [loaded]);
    assert_eq!(status.gpus[0].name, "CUDA0");
    assert_eq!(status.restarts, 0);
    assert!(0 < status.memory_bytes.unwrap());
    let starts = stage.stop().await;
    assert_eq!(starts.len(), 1);
    assert!(!is_alive(starts[0]));
}

#[tokio::test]
async fn an_engine_that_is_killed_is_started_again() {
    let stage = SupervisorFixture::start(|_| ());
    stage.until(|status| status.state == ProcessState::Up).await;
    kill(stage.starts()[0]);
    let status =
        stage.until(|status| status.restarts == 1 && status.state == ProcessState::Up).await;
    assert_eq!(status.restarts, 1);
    assert_eq!(stage.stop().await.len(), 2);
}

#[tokio::test]
async fn an_engine_that_never_starts_is_tried_ever_less_often() {
    let stage = SupervisorFixture::start(|folder| std::fs::write(folder.join("fail"), "").unwrap());
    let status = stage.until(|status| 3 <= status.restarts).await;
    assert!(!stage.status.is_up());
    if let ProcessState::Down { reason } = status.state {
        assert!(reason.contains("exit status: 7"), "{reason}");
    }
    stage.stop().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("nothing");
    let plan = EngineCommand {
        program,
        arguments: Vec::new(),
        environment: Vec::new(),
        socket: folder.path().join("s"),
    };
    let (status, stop) = (StatusCell::default(), CancellationToken::new());
    let mut supervisor = tokio::task::JoinSet::new();
    supervisor.spawn(supervise_engine(plan, status.clone(), Box::new(|| 0), stop.clone()));
    let down = async {
        while status.get().restarts < 2 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, down).await.unwrap();
    stop.cancel();
    supervisor.join_next().await.unwrap().unwrap();
}
