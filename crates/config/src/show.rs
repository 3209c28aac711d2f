//! Lists the effective settings with their origins. Secrets are masked.

use crate::key::{Form, Key, Kind, Otherwise, Section};
use crate::node::{Node, Table, Value};
use crate::origin::Origin;
use crate::reader::default_node;
use crate::scalar::{without_password, without_path};
use crate::secret::is_reference;
use crate::sections::{self, provider, rpc};
use crate::sources::Sources;

/// One effective setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The full name: `server.listen`, `provider.vllm.base_url`.
    pub name: String,
    /// The value as TOML; None if it is not set. Secrets are shown as `***`.
    pub value: Option<String>,
    pub origin: Origin,
}

impl Sources {
    /// Returns all effective settings except models, which have a listing of their own.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for section in sections::all() {
            match section.form {
                Form::One if section.name == rpc::NETWORK_SECTION.name => {
                    settings.extend(self.network_settings());
                }
                Form::One => settings.extend(self.section_settings(section)),
                Form::Many if section.name == provider::SECTION.name => {
                    settings.extend(self.provider_settings());
                }
                Form::Many | Form::Inner => {}
            }
        }
        settings
    }

    fn section_settings(&self, section: &Section) -> Vec<Setting> {
        let empty = Table::EMPTY;
        let table = match self.table.get(section.name) {
            Some(Node { value: Value::Table(table), .. }) => table,
            _ if section.name.is_empty() => &self.table,
            _ => &empty,
        };
        listed(section.name, section.keys, table)
    }

    fn network_settings(&self) -> Vec<Setting> {
        let Some(Node { value: Value::Table(rpc), .. }) = self.table.get("rpc") else {
            return Vec::new();
        };
        let Some(Node { value: Value::Table(networks), .. }) = rpc.get("networks") else {
            return Vec::new();
        };
        let mut settings = Vec::new();
        for (slug, node) in networks.entries() {
            if let Value::Table(network) = &node.value {
                let place = format!("rpc.networks.{slug}");
                settings.extend(listed(&place, rpc::NETWORK_SECTION.keys, network));
            }
        }
        settings
    }

    fn provider_settings(&self) -> Vec<Setting> {
        let Some(Node { value: Value::List(items), .. }) = self.table.get("provider") else {
            return Vec::new();
        };
        let mut settings = Vec::new();
        for item in items {
            let Value::Table(table) = &item.value else { continue };
            let Some(Node { value: Value::Text(id), .. }) = table.get("id") else { continue };
            settings.extend(listed(&format!("provider.{id}"), provider::SECTION.keys, table));
        }
        settings
    }
}

fn listed(place: &str, keys: &'static [Key], table: &Table) -> Vec<Setting> {
    let is_plain = |key: &&Key| !matches!(key.kind, Kind::Table | Kind::Tables | Kind::NamedTables);
    keys.iter()
        .filter(is_plain)
        .map(|key| {
            let name = if place.is_empty() {
                key.name.to_owned()
            } else {
                format!("{place}.{}", key.name)
            };
            let node = table.get(key.name).cloned().or_else(|| default_of(key));
            let origin = node.as_ref().map_or(Origin::Default, |node| node.origin.clone());
            Setting { name, value: node.map(|node| masked(&node.value, key.kind)), origin }
        })
        .collect()
}

fn default_of(key: &Key) -> Option<Node> {
    match key.otherwise {
        Otherwise::Default(literal) => Some(default_node(literal)),
        Otherwise::Required | Otherwise::Absent => None,
    }
}

fn masked(value: &Value, kind: Kind) -> String {
    match (kind, value) {
        (Kind::Secret | Kind::SecretUrl(_), Value::Text(written)) if is_reference(written) => {
            value.to_string()
        }
        (Kind::Secret, _) => "***".to_owned(),
        (Kind::SecretUrl(_), Value::Text(url)) => Value::Text(without_path(url)).to_string(),
        (Kind::SecretUrls(starts), Value::List(items)) => {
            let items = items.iter().map(|item| masked(&item.value, Kind::SecretUrl(starts)));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        (Kind::SecretMap, Value::Table(table)) => {
            let entries = table.entries();
            let entries = entries
                .map(|(name, node)| format!("{name} = {}", masked(&node.value, Kind::Secret)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        (Kind::Url(_) | Kind::Urls(_), _) => without_passwords(value),
        _ => value.to_string(),
    }
}

fn without_passwords(value: &Value) -> String {
    match value {
        Value::Text(text) => Value::Text(without_password(text)).to_string(),
        Value::List(items) => {
            let items: Vec<String> =
                items.iter().map(|item| without_passwords(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
