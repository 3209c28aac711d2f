//! Checks that the listen addresses are available.

use std::net::{SocketAddr, TcpListener};

use config::sections::server::Server;

use super::Finding;

pub(crate) fn check(server: &Server, is_running: bool) -> Vec<Finding> {
    let listeners = [("listen", server.listen), ("admin_listen", server.admin_listen)];
    listeners.iter().map(|(key, address)| listener(key, *address, is_running)).collect()
}

fn listener(key: &str, address: SocketAddr, is_running: bool) -> Finding {
    let check = format!("server.{key}");
    match TcpListener::bind(address) {
        Ok(_) => Finding::ok(check, format!("{address} is free")),
        Err(_) if is_running => {
            Finding::ok(check, format!("{address} is taken, by the running service"))
        }
        Err(error) => {
            let fix = format!("stop what uses it, or set another address as `{key}` in [server]");
            Finding::failed(check, format!("{address}: {error}"), fix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    #[test]
    fn a_port_in_use_fails_unless_it_is_our_own() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        assert_eq!(listener("listen", address, false).verdict, Verdict::Failed);
        assert_eq!(listener("listen", address, true).verdict, Verdict::Ok);
        drop(taken);
        assert_eq!(listener("listen", address, false).verdict, Verdict::Ok);
    }
}
