//! Lists the effective settings with their origins. Secrets are masked.

use crate::key::{AbsentKeyRule, ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::node::{ConfigNode, ConfigTable, ConfigValue};
use crate::origin::SettingOrigin;
use crate::reader::default_node;
use crate::scalar::{without_password, without_path};
use crate::secret::is_reference;
use crate::section_table::SectionTable;
use crate::sections;
use crate::sections::provider::ProviderConfig;
use crate::sections::rpc::RpcNetworkKeys;
use crate::sources::ConfigSources;

/// One effective setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// The full name: `server.listen`, `provider.vllm.base_url`.
    pub name: String,
    /// The value as TOML; None if it is not set. Secrets are shown as `***`.
    pub value: Option<String>,
    pub origin: SettingOrigin,
}

impl ConfigSources {
    /// Returns all effective settings except models, which have a listing of their own.
    pub fn list_settings(&self) -> Vec<EffectiveSetting> {
        let mut settings = Vec::new();
        for section in sections::list_sections() {
            match section.form {
                SectionForm::One if section.name == RpcNetworkKeys::SECTION.name => {
                    settings.extend(self.network_settings());
                }
                SectionForm::One => settings.extend(self.section_settings(section)),
                SectionForm::Many if section.name == ProviderConfig::SECTION.name => {
                    settings.extend(self.provider_settings());
                }
                SectionForm::Many | SectionForm::Inner => {}
            }
        }
        settings
    }

    fn section_settings(&self, section: &ConfigSection) -> Vec<EffectiveSetting> {
        let empty = ConfigTable::EMPTY;
        let table = match self.table.get(section.name) {
            Some(ConfigNode { value: ConfigValue::Table(table), .. }) => table,
            _ if section.name.is_empty() => &self.table,
            _ => &empty,
        };
        list_table_settings(section.name, section.keys, table)
    }

    fn network_settings(&self) -> Vec<EffectiveSetting> {
        let Some(ConfigNode { value: ConfigValue::Table(rpc), .. }) = self.table.get("rpc") else {
            return Vec::new();
        };
        let Some(ConfigNode { value: ConfigValue::Table(networks), .. }) = rpc.get("networks")
        else {
            return Vec::new();
        };
        let mut settings = Vec::new();
        for (slug, node) in networks.entries() {
            if let ConfigValue::Table(network) = &node.value {
                let place = format!("rpc.networks.{slug}");
                settings.extend(list_table_settings(&place, RpcNetworkKeys::SECTION.keys, network));
            }
        }
        settings
    }

    fn provider_settings(&self) -> Vec<EffectiveSetting> {
        let Some(ConfigNode { value: ConfigValue::List(items), .. }) = self.table.get("provider")
        else {
            return Vec::new();
        };
        let mut settings = Vec::new();
        for item in items {
            let ConfigValue::Table(table) = &item.value else { continue };
            let Some(ConfigNode { value: ConfigValue::Text(id), .. }) = table.get("id") else {
                continue;
            };
            settings.extend(list_table_settings(
                &format!("provider.{id}"),
                ProviderConfig::SECTION.keys,
                table,
            ));
        }
        settings
    }
}

fn list_table_settings(
    place: &str,
    keys: &'static [ConfigKey],
    table: &ConfigTable,
) -> Vec<EffectiveSetting> {
    let is_plain = |key: &&ConfigKey| {
        !matches!(key.kind, ValueKind::Table | ValueKind::Tables | ValueKind::NamedTables)
    };
    keys.iter()
        .filter(is_plain)
        .map(|key| {
            let name = if place.is_empty() {
                key.name.to_owned()
            } else {
                format!("{place}.{}", key.name)
            };
            let node = table.get(key.name).cloned().or_else(|| default_of(key));
            let origin = node.as_ref().map_or(SettingOrigin::Default, |node| node.origin.clone());
            EffectiveSetting {
                name,
                value: node.map(|node| mask_value(&node.value, key.kind)),
                origin,
            }
        })
        .collect()
}

fn default_of(key: &ConfigKey) -> Option<ConfigNode> {
    match key.otherwise {
        AbsentKeyRule::Default(literal) => Some(default_node(literal)),
        AbsentKeyRule::Required | AbsentKeyRule::Absent => None,
    }
}

fn mask_value(value: &ConfigValue, kind: ValueKind) -> String {
    match (kind, value) {
        (ValueKind::Secret | ValueKind::SecretUrl(_), ConfigValue::Text(written))
            if is_reference(written) =>
        {
            value.to_string()
        }
        (ValueKind::Secret, _) => "***".to_owned(),
        (ValueKind::SecretUrl(_), ConfigValue::Text(url)) => {
            ConfigValue::Text(without_path(url)).to_string()
        }
        (ValueKind::SecretUrls(starts), ConfigValue::List(items)) => {
            let items =
                items.iter().map(|item| mask_value(&item.value, ValueKind::SecretUrl(starts)));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        (ValueKind::SecretMap, ConfigValue::Table(table)) => {
            let entries = table.entries();
            let entries = entries.map(|(name, node)| {
                format!("{name} = {}", mask_value(&node.value, ValueKind::Secret))
            });
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        (ValueKind::Url(_) | ValueKind::Urls(_), _) => without_passwords(value),
        _ => value.to_string(),
    }
}

fn without_passwords(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Text(text) => ConfigValue::Text(without_password(text)).to_string(),
        ConfigValue::List(items) => {
            let items: Vec<String> =
                items.iter().map(|item| without_passwords(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
