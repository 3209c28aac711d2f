//! `[cluster]`: several nodes that share one Postgres database.

use std::net::SocketAddr;

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub const SECTION: ConfigSection = ConfigSection {
    name: "cluster",
    form: SectionForm::One,
    doc: "Several nodes on one Postgres: each account is held by one node at a time, and other \
          nodes forward its requests there. Disabled unless `listen` is set.",
    keys: &[
        ConfigKey::optional(
            "listen",
            ValueKind::Address,
            "The listen address for other nodes, such as `10.0.0.5:8090`. The traffic is not \
             encrypted: use a private network.",
        ),
        ConfigKey::optional(
            "address",
            ValueKind::Url(HTTP),
            "The URL at which other nodes reach this one. Default: `http://` and `listen`.",
        ),
        ConfigKey::optional(
            "node",
            ValueKind::Text,
            "The unique name of this node. Default: the host name of the machine.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterConfig {
    pub listen: SocketAddr,
    pub address: String,
    pub node: Option<String>,
}

/// Returns `Some(None)` for a single node, and `None` if a fault was reported.
pub(crate) fn read_cluster_config(reader: &TableReader<'_>) -> Option<Option<ClusterConfig>> {
    let (listen, address, node) =
        (reader.address("listen"), reader.url("address"), reader.text("node"));
    let Some(listen) = listen else {
        for name in ["address", "node"] {
            if reader.has_key(name) {
                reader.report_fault(
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
        reader.report_fault("address", message);
        return None;
    }
    let address = address.map(|it| it.trim_end_matches('/').to_owned());
    let address = address.unwrap_or_else(|| format!("http://{listen}"));
    Some(Some(ClusterConfig { listen, address, node }))
}
