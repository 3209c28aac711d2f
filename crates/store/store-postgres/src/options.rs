//! Options for connecting to a database, and the node's identity.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use store::error::StoreError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::tls::ServerTrust;

/// Default timeout of connecting: less than the three seconds within which a request is refused
/// while the database is down.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time without any acknowledgement after which a connection is dead.
const SILENCE_MAX: Duration = Duration::from_secs(10);
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);

/// Options for opening a database.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`. `sslmode` may be `disable`, `require` or
    /// `verify-full`, the last with `sslrootcert`. Default: plain within this machine, verified
    /// otherwise. A pooler in front of the database must pool whole sessions.
    pub url: String,
    /// The name of this node. A node that starts with the name of another replaces it, and the
    /// other one is fenced.
    pub node_name: String,
    /// The address at which other nodes reach this one.
    pub node_address: String,
    /// This node alone decides about all owners' money: it does not start while another node is
    /// live, and no other starts while it is.
    pub is_alone: bool,
    /// Concurrent queries; further ones wait.
    pub readers: usize,
}

impl PostgresOptions {
    pub fn new(url: impl Into<String>, node_name: impl Into<String>) -> PostgresOptions {
        PostgresOptions {
            url: url.into(),
            node_name: node_name.into(),
            node_address: String::new(),
            is_alone: false,
            readers: 8,
        }
    }
}

/// Omits the URL of the database, which may hold a password.
impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PostgresOptions { node_name, node_address, readers, url: _, is_alone: _ } = self;
        write!(f, "Options(node {node_name} at {node_address:?}, {readers} readers)")
    }
}

/// A parsed URL.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseTarget {
    pub(crate) config: Config,
    pub(crate) trust: ServerTrust,
}

impl DatabaseTarget {
    pub(crate) fn parse(url: &str) -> Result<DatabaseTarget, StoreError> {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut authorities, mut others) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => {
                    let path = percent_decode_str(value).decode_utf8_lossy();
                    authorities = Some(PathBuf::from(path.into_owned()));
                }
                _ => others.push(pair),
            }
        }
        // The parser's error names the option, never its value.
        let mut config = Config::from_str(&format!("{address}?{}", others.join("&")))
            .map_err(|error| refuse_url(&error.to_string()))?;
        let trust = match mode {
            Some("disable") => ServerTrust::Plain,
            Some("require") if authorities.is_none() => ServerTrust::Anybody,
            Some("require" | "verify-full") => ServerTrust::Named { authorities },
            None if is_local(&config) => ServerTrust::Plain,
            None => ServerTrust::Named { authorities },
            Some(_) => {
                return Err(refuse_url("sslmode is `disable`, `require` or `verify-full`"));
            }
        };
        let is_plain = trust == ServerTrust::Plain;
        config.ssl_mode(if is_plain { SslMode::Disable } else { SslMode::Require });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.tcp_user_timeout(SILENCE_MAX).keepalives_idle(KEEPALIVE_IDLE);
        config.keepalives_interval(KEEPALIVE_IDLE).keepalives_retries(2);
        Ok(DatabaseTarget { config, trust })
    }
}

fn refuse_url(why: &str) -> StoreError {
    StoreError::Unsuitable(format!("`store.url` cannot be used: {why}"))
}

fn is_local(config: &Config) -> bool {
    let is_local_host = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local_host)
        && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(url: &str) -> ServerTrust {
        DatabaseTarget::parse(url).unwrap().trust
    }

    #[test]
    fn only_connections_within_this_machine_are_plain_by_themselves() {
        for local in
            ["postgres://a@localhost/b", "postgres://a@127.0.0.1:5/b", "postgres://a@%2Frun/b"]
        {
            assert_eq!(trust(local), ServerTrust::Plain, "{local}");
        }
        assert_eq!(trust("postgres://a@db.example/b"), ServerTrust::Named { authorities: None });
        assert_eq!(
            trust("postgres://a@localhost,db.example/b"),
            ServerTrust::Named { authorities: None }
        );
    }

    #[test]
    fn what_is_asked_for_is_done() {
        assert_eq!(trust("postgres://a@db.example/b?sslmode=disable"), ServerTrust::Plain);
        assert_eq!(trust("postgres://a@db.example/b?sslmode=require"), ServerTrust::Anybody);
        let file = ServerTrust::Named { authorities: Some(PathBuf::from("/etc/a b.pem")) };
        let url = "postgres://a@db.example/b?sslrootcert=/etc/a%20b.pem&sslmode=verify-full";
        assert_eq!(trust(url), file);
        assert_eq!(trust(&url.replace("verify-full", "require")), file);
        let target =
            DatabaseTarget::parse("postgres://a:s3cret@db.example/b?connect_timeout=9").unwrap();
        assert_eq!(target.config.get_connect_timeout(), Some(&Duration::from_secs(9)));
    }

    #[test]
    fn an_error_about_a_url_does_not_tell_its_password() {
        for url in ["postgres://a:s3cret@db/b?sslmode=maybe", "postgres://a:s3cret@db/b?what=1"] {
            let error = DatabaseTarget::parse(url).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        let options = PostgresOptions::new("postgres://a:s3cret@db/b", "one");
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
