//! The environment as a configuration layer: `TOLLGATE__SECTION__KEY` sets that key.

use std::collections::BTreeMap;

use crate::fault::{FaultList, did_you_mean};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::node::{ConfigNode, ConfigTable, ConfigValue};
use crate::origin::SettingOrigin;
use crate::sections;

const PREFIX: &str = "TOLLGATE__";
const SEPARATOR: &str = "__";

/// The environment variables of a process.
#[derive(Debug, Clone, Default)]
pub struct ProcessEnvironment {
    variables: BTreeMap<String, String>,
}

impl ProcessEnvironment {
    /// Returns the variables of this process. Skips variables that are not UTF-8, because no
    /// setting has such a name or value.
    pub fn of_process() -> ProcessEnvironment {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Writes the variables that are settings into `table`, replacing values from the file.
    pub(crate) fn layer_over(&self, table: &mut ConfigTable, faults: &FaultList) {
        for (name, value) in &self.variables {
            let Some(rest) = name.strip_prefix(PREFIX) else { continue };
            let origin = SettingOrigin::Environment(name.clone());
            match resolve_variable(rest) {
                Ok((path, key)) => {
                    let path: Vec<&str> = path.iter().map(String::as_str).collect();
                    table.insert_at(
                        &path,
                        ConfigNode { value: convert_value(value, key, &origin), origin },
                    );
                }
                Err(problem) => faults.push(&origin, problem),
            }
        }
    }
}

impl FromIterator<(String, String)> for ProcessEnvironment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> ProcessEnvironment {
        ProcessEnvironment { variables: pairs.into_iter().collect() }
    }
}

/// Returns the name of the variable that sets a key of a section.
pub fn build_variable_name(section: &str, key: &str) -> String {
    let section = section.replace('.', SEPARATOR);
    if section.is_empty() {
        return format!("{PREFIX}{}", key.to_uppercase());
    }
    format!("{PREFIX}{}{SEPARATOR}{}", section.to_uppercase(), key.to_uppercase())
}

/// Returns the key that a name such as `SERVER__LISTEN` refers to, and its path in the tree.
fn resolve_variable(rest: &str) -> Result<(Vec<String>, &'static ConfigKey), String> {
    let parts: Vec<String> = rest.split(SEPARATOR).map(str::to_lowercase).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (path, section, key) = match parts.as_slice() {
        [key] => (vec![(*key).to_owned()], "", *key),
        ["rpc", "networks", network, key] => {
            // Variable names cannot contain hyphens, and network slugs contain no underscores.
            let network = network.replace('_', "-");
            let path = ["rpc", "networks", network.as_str(), *key].map(str::to_owned);
            (path.to_vec(), "rpc.networks.<network>", *key)
        }
        [section, key] => (vec![(*section).to_owned(), (*key).to_owned()], *section, *key),
        _ => return Err(format!("no setting has this name; write {PREFIX}SECTION{SEPARATOR}KEY")),
    };
    let section = section_named(section)?;
    let found = section.keys.iter().find(|known| known.name == key);
    let found = found.ok_or_else(|| {
        let hint = did_you_mean(key, section.keys.iter().map(|known| known.name));
        format!("unknown key `{key}` in [{}]{hint}", section.name)
    })?;
    if matches!(found.kind, ValueKind::Table | ValueKind::Tables | ValueKind::NamedTables) {
        return Err(format!("`{key}` is a table and can only be set in a file"));
    }
    Ok((path, found))
}

fn section_named(name: &str) -> Result<&'static ConfigSection, String> {
    let plain = || sections::list_sections().filter(|section| section.form == SectionForm::One);
    let found = plain().find(|section| section.name == name);
    found.ok_or_else(|| {
        let is_list = sections::find_section(name).is_some();
        if is_list {
            return format!("[[{name}]] is a list and can only be set in a file");
        }
        format!("unknown section `{name}`{}", did_you_mean(name, plain().map(|it| it.name)))
    })
}

/// Converts the text of a variable to the type of its key. Text that does not fit stays text, so
/// that the reader reports it like any other wrong value.
fn convert_value(text: &str, key: &ConfigKey, origin: &SettingOrigin) -> ConfigValue {
    let as_text = || ConfigValue::Text(text.to_owned());
    match key.kind {
        ValueKind::Integer { .. } | ValueKind::Seconds { .. } => {
            text.parse().map_or_else(|_| as_text(), ConfigValue::Integer)
        }
        ValueKind::Number { .. } => text.parse().map_or_else(|_| as_text(), ConfigValue::Number),
        ValueKind::Flag => text.parse().map_or_else(|_| as_text(), ConfigValue::Flag),
        ValueKind::Texts
        | ValueKind::Urls(_)
        | ValueKind::SecretUrls(_)
        | ValueKind::Choices(_) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            let node = |item: &str| ConfigNode {
                value: ConfigValue::Text(item.to_owned()),
                origin: origin.clone(),
            };
            ConfigValue::List(items.map(node).collect())
        }
        _ => as_text(),
    }
}
