//! nginx as a bare proxy: the minimal cost of forwarding a request.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::process::MeasuredProgram;

const START_MAX: Duration = Duration::from_secs(10);

pub struct NginxProxy {
    pub program: MeasuredProgram,
    pub address: SocketAddr,
    _folder: TempDir,
}

impl NginxProxy {
    /// Starts nginx with a worker per core, as the service has a lane per core; keep-alive on both
    /// sides, no log, no response buffering.
    pub fn start(upstream: SocketAddr) -> NginxProxy {
        let folder = tempfile::tempdir().expect("a directory should be made");
        let address = free_address();
        let at = folder.path().display();
        let config = format!(
            "daemon off; worker_processes auto; pid {at}/pid; error_log {at}/error;
             events {{ worker_connections 4096; }}
             http {{
                 access_log off; keepalive_requests 1000000;
                 client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;
                 fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi;
                 scgi_temp_path {at}/scgi;
                 upstream node {{ server {upstream}; keepalive 256; keepalive_requests 1000000; }}
                 server {{
                     listen {address};
                     location / {{
                         proxy_pass http://node; proxy_http_version 1.1; proxy_buffering off;
                         proxy_set_header Connection \"\";
                     }}
                 }}
             }}"
        );
        let path = folder.path().join("nginx.conf");
        fs::write(&path, config).expect("the configuration should be written");
        let mut command = Command::new("nginx");
        let program = MeasuredProgram::start(command.arg("-c").arg(&path).stdout(Stdio::null()));
        wait_for(address);
        NginxProxy { program, address, _folder: folder }
    }
}

/// A kill would leave its workers running, so it is asked to end.
impl Drop for NginxProxy {
    fn drop(&mut self) {
        self.program.terminate();
    }
}

/// nginx does not report when it listens, so the port is polled.
fn wait_for(address: SocketAddr) {
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begun.elapsed() < START_MAX, "nginx should listen");
        thread::sleep(Duration::from_millis(5));
    }
}

/// nginx cannot choose a free port, so one is chosen for it.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it is bound")
}
