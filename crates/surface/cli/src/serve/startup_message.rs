//! The message for the operator when the service is ready.

use std::net::SocketAddr;

use crate::failure::CommandError;
use crate::output::print_text;

pub(crate) struct StartupMessage {
    pub(crate) address: SocketAddr,
    /// The first ADMIN key, on the start that created it.
    pub(crate) first_key: Option<String>,
    /// Set if the operator chose the key, so that it need not be shown.
    pub(crate) is_key_chosen: bool,
    /// The token of a one-time link that signs in to the console as the operator.
    pub(crate) link: Option<String>,
}

impl StartupMessage {
    pub(crate) fn print(&self) -> Result<(), CommandError> {
        print_text(&self.to_text())
    }

    /// The line that scripts wait for is last, when everything else has been printed.
    fn to_text(&self) -> String {
        let address = to_reachable_address(self.address);
        let mut text = String::new();
        if let Some(key) = &self.first_key {
            let shown = if self.is_key_chosen { "$TOLLGATE_ADMIN_KEY" } else { key };
            if !self.is_key_chosen {
                text.push_str(&format!("ADMIN key, shown only now: {key}\n"));
            }
            text.push_str(&format!(
                "try it: curl -H \"Authorization: Bearer {shown}\" http://{address}/api/v1/models\n"
            ));
        }
        if let Some(token) = &self.link {
            text.push_str(&format!(
                "console, this link signs in once as the operator: http://{address}/#/sign-in/{token}\n"
            ));
        }
        text.push_str(&format!("listening on http://{}\n", self.address));
        text
    }
}

/// Replaces the unspecified address (`0.0.0.0` or `::`) by loopback, to which requests can be sent.
pub(crate) fn to_reachable_address(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let loopback = if address.is_ipv4() { "127.0.0.1" } else { "::1" };
    loopback.parse().map_or(address, |ip| SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, first_key: Option<&str>, is_key_chosen: bool, expected: &str) {
        let first_key = first_key.map(str::to_owned);
        let link = first_key.is_some().then(|| "T".to_owned());
        let address = address.parse().unwrap();
        let welcome = StartupMessage { address, first_key, is_key_chosen, link };
        assert_eq!(welcome.to_text(), expected);
    }

    #[test]
    fn the_first_start_shows_the_key_and_a_line_to_try() {
        check(
            "0.0.0.0:80",
            Some("K"),
            false,
            "ADMIN key, shown only now: K\n\
             try it: curl -H \"Authorization: Bearer K\" http://127.0.0.1:80/api/v1/models\n\
             console, this link signs in once as the operator: http://127.0.0.1:80/#/sign-in/T\n\
             listening on http://0.0.0.0:80\n",
        );
    }

    #[test]
    fn a_chosen_key_is_never_shown() {
        check(
            "127.0.0.1:80",
            Some("K"),
            true,
            "try it: curl -H \"Authorization: Bearer $TOLLGATE_ADMIN_KEY\" \
             http://127.0.0.1:80/api/v1/models\n\
             console, this link signs in once as the operator: http://127.0.0.1:80/#/sign-in/T\n\
             listening on http://127.0.0.1:80\n",
        );
    }

    #[test]
    fn later_starts_only_say_where_they_listen() {
        check("[::]:80", None, false, "listening on http://[::]:80\n");
    }
}
