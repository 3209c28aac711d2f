//! `[cluster]`: several nodes that share one Postgres database.

use std::net::SocketAddr;

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "cluster",
    form: Form::One,
    doc: "Several nodes on one Postgres: each account is held by one node at a time, and other \
          nodes forward its requests there. Disabled unless `listen` is set.",
    keys: &[
        Key::optional(
            "listen",
            Kind::Address,
            "The listen address for other nodes, such as `10.0.0.5:8090`. The traffic is not \
             encrypted: use a private network.",
        ),
        Key::optional(
            "address",
            Kind::Url(HTTP),
            "The URL at which other nodes reach this one. Default: `http://` and `listen`.",
        ),
        Key::optional(
            "node",
            Kind::Text,
            "The unique name of this node. Default: the host name of the machine.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    pub listen: SocketAddr,
    pub address: String,
    pub node: Option<String>,
}

/// Returns `Some(None)` for a single node, and `None` if a fault was reported.
pub(crate) fn read(reader: &Reader<'_>) -> Option<Option<Cluster>> {
    let (listen, address, node) =
        (reader.address("listen"), reader.url("address"), reader.text("node"));
    let Some(listen) = listen else {
        for name in ["address", "node"] {
            if reader.has(name) {
                reader.fault(
                    "listen",
                    format!("`listen` is missing in [cluster]; `{name}` needs it"),
                );
                return None;
            }
        }
        return Some(None);
    };
    if address.is_none() && listen.ip().is_unspecified() {
        let message = "`address` is missing in [cluster]: other nodes cannot reach this one at \
                       every address";
        reader.fault("address", message);
        return None;
    }
    let address = address.map(|it| it.trim_end_matches('/').to_owned());
    let address = address.unwrap_or_else(|| format!("http://{listen}"));
    Some(Some(Cluster { listen, address, node }))
}
