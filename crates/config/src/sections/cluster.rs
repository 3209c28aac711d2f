//! `[cluster]`: several nodes that share one Postgres database.

use std::net::SocketAddr;

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "cluster",
    form: Form::One,
    doc: "Several nodes on one Postgres: each account is at home at one node at a time, and any node \
          takes its requests there. Off until an address to listen on is given.",
    keys: &[
        Key::optional(
            "listen",
            Kind::Address,
            "Where other nodes reach this one, such as `10.0.0.5:8090`. What they send is not \
             encrypted: keep it in a network of their own.",
        ),
        Key::optional(
            "address",
            Kind::Url(HTTP),
            "The same as a URL for the others, if that is not `http://` and `listen`.",
        ),
        Key::optional(
            "node",
            Kind::Text,
            "What this node is called, and another than all others are; without it, the machine's \
             name.",
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
