//! A Postgres server for tests: in a temporary directory, started when a test first needs it, and
//! ended with the process.

use std::hash::{Hash, Hasher};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use store_postgres::{PostgresOptions, PostgresStore};
use tokio_postgres::{Client, NoTls};

/// The directory in which Debian and similar systems install each version.
const VERSIONS: &str = "/usr/lib/postgresql";

pub(crate) struct Server {
    binaries: PathBuf,
    directory: PathBuf,
    pub(crate) port: u16,
    /// The user that the server runs as; it refuses to run as root.
    user: Option<User>,
}

struct User {
    uid: u32,
    gid: u32,
}

static SERVER: tokio::sync::OnceCell<Server> = tokio::sync::OnceCell::const_new();

/// The server of this process, once a test has requested a database.
pub(crate) fn server() -> &'static Server {
    SERVER.get().expect("a test asks for a database first")
}

async fn started() -> &'static Server {
    let start = || async {
        remove_those_of_the_dead();
        let seed = seed().await;
        let server = Server::at(scratch(&std::process::id().to_string()));
        let copied = server.command("cp").arg("-a").arg(seed).arg(server.data()).status();
        assert!(copied.unwrap().success());
        server.start();
        server
    };
    SERVER.get_or_init(start).await
}

/// The URL of a new database with migrated, empty tables.
pub(crate) async fn database() -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::SeqCst));
    let admin = client(&started().await.url("postgres")).await;
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {MIGRATED}")).await.unwrap();
    server().url(&name)
}

/// The URL of a database without any tables.
pub(crate) async fn empty_database(name: &str) -> String {
    let admin = client(&started().await.url("postgres")).await;
    admin.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    server().url(name)
}

/// The files of a server with a migrated database, created once for all processes: creating them
/// takes longer than most tests.
async fn seed() -> PathBuf {
    let mut schema = std::hash::DefaultHasher::new();
    let step = concat!(
        include_str!("../../migrations/0001_create_books_and_works/1_books.sql"),
        include_str!("../../migrations/0001_create_books_and_works/2_works.sql"),
        include_str!("../../migrations/0002_note_what_nodes_know.sql"),
        include_str!("../../migrations/0003_count_audit_rows.sql"),
        include_str!("../../migrations/0004_mark_operator_keys.sql"),
        include_str!("../../migrations/0005_digest_usage_rows.sql"),
        include_str!("../../migrations/0006_sum_sessions.sql"),
        include_str!("../../migrations/0007_store_responses.sql"),
        include_str!("../../migrations/0008_create_batches.sql"),
        include_str!("../../migrations/0009_admit_debts.sql"),
    );
    (step, binaries()).hash(&mut schema);
    let name = format!("seed-{:x}", schema.finish());
    let lock = std::fs::File::create(std::env::temp_dir().join(format!("{PREFIX}{name}.lock")));
    let lock = lock.unwrap();
    lock.lock().unwrap();
    let finished = scratch(&name).join("data");
    if !finished.exists() {
        let _ = std::fs::remove_dir_all(scratch(&name));
        let server = Server::at(scratch(&name));
        server.initialise();
        server.start();
        let admin = client(&server.url("postgres")).await;
        admin.batch_execute(&format!("CREATE DATABASE {MIGRATED}")).await.unwrap();
        let options = PostgresOptions::new(server.url(MIGRATED), "seed");
        PostgresStore::connect(&options).await.unwrap().close().await;
        let raw = client(&server.url(MIGRATED)).await;
        raw.batch_execute("DELETE FROM node").await.unwrap();
        server.stop("fast");
        std::fs::rename(server.data(), finished).unwrap();
    }
    scratch(&name).join("data")
}

pub(crate) async fn store(url: &str, name: &str) -> PostgresStore {
    let address = format!("http://{name}:8080");
    let options =
        PostgresOptions { node_address: address, readers: 4, ..PostgresOptions::new(url, name) };
    PostgresStore::connect(&options).await.unwrap()
}

/// A separate connection for the test.
pub(crate) async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(connection);
    tasks.detach_all();
    client
}

impl Server {
    /// A server in a new, empty directory.
    fn at(directory: PathBuf) -> Server {
        std::fs::create_dir(&directory).unwrap();
        let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
        let user = is_root.then(unprivileged);
        if let Some(user) = &user {
            chown(&directory, Some(user.uid), Some(user.gid)).unwrap();
        }
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        Server { binaries: binaries(), directory, port, user }
    }

    fn initialise(&self) {
        let output = self
            .postgres("initdb")
            .args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--locale=C.UTF-8", "--pgdata"])
            .arg(self.data())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Starts the server and waits until it answers. The thread that starts it is kept, because the
    /// server is set to end when that thread does.
    pub(crate) fn start(&self) {
        let settings = [
            "fsync=off",
            "full_page_writes=off",
            "max_connections=300",
            "shared_buffers=64MB",
            "listen_addresses=127.0.0.1",
            "log_min_messages=warning",
        ];
        let log = std::fs::File::create(self.log()).unwrap();
        let mut command = self.postgres("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(&self.directory);
        command.arg("-p").arg(self.port.to_string());
        for setting in settings {
            command.arg("-c").arg(setting);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        std::thread::spawn(move || {
            let mut child = command.spawn().unwrap();
            child.wait().unwrap();
            loop {
                std::thread::park();
            }
        });
        let started = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() || !self.is_ready() {
            assert!(started.elapsed() < Duration::from_secs(30), "{}", self.logged());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `immediate` acts as if the machine had failed.
    pub(crate) fn stop(&self, mode: &str) {
        let stopped = self
            .postgres("pg_ctl")
            .args(["stop", "--mode", mode, "--pgdata"])
            .arg(self.data())
            .output()
            .unwrap();
        assert!(stopped.status.success(), "{}", String::from_utf8_lossy(&stopped.stderr));
    }

    /// Writes a file that only the server may read, and returns its path.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if let Some(user) = &self.user {
            chown(&path, Some(user.uid), Some(user.gid)).unwrap();
        }
        path
    }

    fn is_ready(&self) -> bool {
        let host = self.directory.as_os_str();
        let port = self.port.to_string();
        let mut ready = self.postgres("pg_isready");
        ready.arg("-q").arg("-h").arg(host).args(["-p", &port]);
        ready.status().unwrap().success()
    }

    fn data(&self) -> PathBuf {
        self.directory.join("files")
    }

    fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    fn logged(&self) -> String {
        let mut text = String::new();
        std::fs::File::open(self.log()).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// A program of the installed version.
    fn postgres(&self, program: &str) -> Command {
        self.command(self.binaries.join(program))
    }

    /// A program run as the server's user, ended with this process.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]);
        if let Some(user) = &self.user {
            command.arg(format!("--reuid={}", user.uid)).arg(format!("--regid={}", user.gid));
            command.arg("--clear-groups");
        }
        command.arg(program).current_dir(&self.directory);
        command
    }
}

const PREFIX: &str = "tollgate-postgres-";
const MIGRATED: &str = "migrated";

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{PREFIX}{name}"))
}

/// The directory of the newest installed version.
fn binaries() -> PathBuf {
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()))
        .filter(|version| {
            Path::new(VERSIONS).join(version.to_string()).join("bin/postgres").exists()
        })
        .max();
    let Some(version) = newest.filter(|version| 15 <= *version) else {
        panic!(
            "these tests need Postgres 15 or later in {VERSIONS}; `make test` installs it, and so \
             does `apt-get install postgresql`"
        );
    };
    Path::new(VERSIONS).join(version.to_string()).join("bin")
}

/// The user `postgres` if it exists, otherwise `nobody`.
fn unprivileged() -> User {
    let number = |flag: &str, name: &str| -> Option<u32> {
        let output = Command::new("id").args([flag, name]).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    let user = |name| Some(User { uid: number("-u", name)?, gid: number("-g", name)? });
    user("postgres").or_else(|| user("nobody")).expect("there is a user who is not root")
}

/// Removes the directories of processes that were killed.
fn remove_those_of_the_dead() {
    for entry in std::fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let is_process = process.bytes().all(|byte| byte.is_ascii_digit());
        if is_process && !Path::new("/proc").join(process).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
