//! Checks that the listen addresses are available.

use std::net::{SocketAddr, TcpListener};

use config::sections::server::ServerConfig;

use super::CheckFinding;
use crate::serve::PLAIN_COOKIES;

pub(crate) fn check_listeners(server: &ServerConfig, is_running: bool) -> Vec<CheckFinding> {
    let listeners = [("listen", server.listen), ("admin_listen", server.admin_listen)];
    let findings = listeners.iter().map(|(key, address)| check_listener(key, *address, is_running));
    findings.chain(check_public_url(server)).collect()
}

fn check_public_url(server: &ServerConfig) -> Option<CheckFinding> {
    let fix = "set `public_url` in [server] to the https URL that callers use";
    let warning = || CheckFinding::warning("server.public_url", PLAIN_COOKIES, fix);
    server.lacks_https_url().then(warning)
}

fn check_listener(key: &str, address: SocketAddr, is_running: bool) -> CheckFinding {
    let check = format!("server.{key}");
    match TcpListener::bind(address) {
        Ok(_) => CheckFinding::ok(check, format!("{address} is free")),
        Err(_) if is_running => {
            CheckFinding::ok(check, format!("{address} is in use by the running service"))
        }
        Err(error) => {
            let fix = format!("stop what uses it, or set another address as `{key}` in [server]");
            CheckFinding::failed(check, format!("{address}: {error}"), fix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckVerdict;

    #[test]
    fn a_port_in_use_fails_unless_it_is_our_own() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        assert_eq!(check_listener("listen", address, false).verdict, CheckVerdict::Failed);
        assert_eq!(check_listener("listen", address, true).verdict, CheckVerdict::Ok);
        drop(taken);
        assert_eq!(check_listener("listen", address, false).verdict, CheckVerdict::Ok);
    }
}
