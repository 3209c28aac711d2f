//! The built program, running with its own database.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::process::MeasuredProgram;

/// No models except the measured ones, and limits that no measurement reaches.
const SETTINGS: &str = "[engine]\nlocal = \"off\"\n[[tier]]\nid = \"bench\"\ncrypto_rpc_requests = 1000000000\n\
    text_xs_requests = 1000000000\ntext_xs_tokens = 1000000000000\n\
    general_requests = 1000000000\n";

pub struct ServiceProcess {
    pub program: MeasuredProgram,
    pub address: SocketAddr,
    binary: PathBuf,
    folder: TempDir,
}

impl ServiceProcess {
    /// Starts it in the working directory, so that charges are written to that disk.
    pub fn start(binary: &Path, config: &str) -> ServiceProcess {
        let folder = tempfile::tempdir_in(".").expect("a directory should be made");
        let path = folder.path().join("tollgate.toml");
        fs::write(path, format!("{SETTINGS}\n{config}")).expect("the configuration is written");
        let mut command = build_command(binary, folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = MeasuredProgram::start(&mut command);
        let output = program.child().stdout.take().expect("it is piped");
        let address = BufReader::new(output).lines().find_map(|line| {
            line.ok()?.strip_prefix("listening on http://")?.trim_end_matches('/').parse().ok()
        });
        let address = address.expect("the service should listen");
        ServiceProcess { program, address, binary: binary.to_owned(), folder }
    }

    pub fn create_account(&self, name: &str) {
        self.run(&["accounts", "create", name]);
    }

    /// A key of an account with more credit than any measurement needs.
    pub fn funded_key(&self) -> String {
        self.funded_key_of("default")
    }

    pub fn funded_key_of(&self, account: &str) -> String {
        self.run(&["accounts", "credit", account, "100000"]);
        self.run(&["accounts", "tier", account, "bench"]);
        let made =
            self.run(&["keys", "create", "--type", "inference", "--account", account, "--json"]);
        let (_, rest) = made.split_once("\"apiKey\":").expect("it names the key");
        rest.split('"').nth(1).expect("a string follows").to_owned()
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = build_command(&self.binary, self.folder.path()).args(arguments).output();
        let output = output.expect("the command should run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn build_command(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command.env("TOLLGATE_DATA_DIR", folder.join("data"));
    command.env("TOLLGATE_CONFIG", folder.join("tollgate.toml"));
    command
}
