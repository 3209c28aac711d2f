//! `[cluster]`: several nodes that share one Postgres database.

use std::net::SocketAddr;

use crate::key::ConfigSection;
use crate::key_type::{ADDRESS, BASE_URL, TEXT};
use crate::reader::TableReader;
use crate::section_table::{SectionTable, config_section};

config_section! {
    /// Several nodes on one Postgres: each account is held by one node at a time, and other
    /// nodes forward its requests there. Disabled unless `listen` is set.
    #[section(One, "cluster")]
    pub(crate) struct ClusterKeys {
        /// The listen address for other nodes, such as `10.0.0.5:8090`. The traffic is not
        /// encrypted: use a private network.
        listen: Option<SocketAddr> = ADDRESS, optional;
        /// The URL at which other nodes reach this one. Default: `http://` and `listen`.
        address: Option<String> = BASE_URL, optional;
        /// The unique name of this node. Default: the host name of the machine.
        node: Option<String> = TEXT, optional;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterConfig {
    pub listen: SocketAddr,
    pub address: String,
    pub node: Option<String>,
}

/// `None` is a single node.
impl SectionTable for Option<ClusterConfig> {
    const SECTION: ConfigSection = ClusterKeys::SECTION;

    fn read(reader: &TableReader<'_>) -> Option<Option<ClusterConfig>> {
        let ClusterKeys { listen, address, node } = ClusterKeys::read(reader)?;
        let Some(listen) = listen else {
            let dependent = ["address", "node"].into_iter().find(|name| reader.has_key(name));
            let Some(name) = dependent else { return Some(None) };
            let message = format!("`listen` is missing in [cluster]; `{name}` needs it");
            reader.report_fault("listen", message);
            return None;
        };
        if address.is_none() && listen.ip().is_unspecified() {
            let message = "`address` is missing in [cluster]: other nodes cannot reach this one at \
                           every address";
            reader.report_fault("address", message);
            return None;
        }
        let address = address.unwrap_or_else(|| format!("http://{listen}"));
        Some(Some(ClusterConfig { listen, address, node }))
    }
}
