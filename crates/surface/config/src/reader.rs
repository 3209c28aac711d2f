//! Reads one table: returns typed values by name, and reports unknown or invalid ones.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use moment::Timestamp;

use crate::fault::{FaultList, did_you_mean};
use crate::key::{AbsentKeyRule, ConfigKey, ValueKind};
use crate::node::{ConfigNode, ConfigTable, ConfigValue, parse_toml};
use crate::origin::SettingOrigin;
use crate::scalar::{
    parse_integer, parse_number, parse_text, parse_url, shorten_for_message, unquote_number,
};
use crate::secret::SecretResolver;

/// Reads the values of one table by the names in `keys`.
///
/// Every accessor returns `None` for an absent value without a default, and for an invalid value,
/// whose fault it reports. Callers read all values first and give up after that, so that all faults
/// are reported: `Some(Provider { id: id?, … })`.
#[derive(Debug, Clone)]
pub struct TableReader<'a> {
    table: &'a ConfigTable,
    keys: &'static [ConfigKey],
    /// The name of the table in messages: `[server]`, `[[model]] "llama"`.
    place: String,
    /// The origin of the table itself, to which missing keys are attributed.
    origin: SettingOrigin,
    faults: &'a FaultList,
    /// Set for tables that may contain secrets.
    resolver: Option<&'a SecretResolver<'a>>,
}

impl<'a> TableReader<'a> {
    /// Creates a reader, and reports names in the table that are not keys.
    pub fn new(
        table: &'a ConfigTable,
        keys: &'static [ConfigKey],
        place: impl Into<String>,
        origin: SettingOrigin,
        faults: &'a FaultList,
    ) -> TableReader<'a> {
        let place = place.into();
        let reader = TableReader { table, keys, place, origin, faults, resolver: None };
        for (name, node) in table.entries() {
            let is_known = keys.iter().any(|key| key.name == name);
            if !is_known {
                let hint = did_you_mean(name, keys.iter().map(|key| key.name));
                let message = format!("unknown key `{name}` in {}{hint}", reader.place);
                faults.push(&node.origin, message);
            }
        }
        reader
    }

    /// Sets the resolver of the secrets in this table and in its inner tables.
    pub fn with_resolver(self, resolver: &'a SecretResolver<'a>) -> TableReader<'a> {
        TableReader { resolver: Some(resolver), ..self }
    }

    pub(crate) fn resolver(&self) -> &'a SecretResolver<'a> {
        self.resolver.expect("tables with secrets are read with a resolver")
    }

    /// The name of the table in messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The origin of the table.
    pub fn origin(&self) -> &SettingOrigin {
        &self.origin
    }

    /// Returns the origin of a value; the origin of the table if the value is absent.
    pub fn origin_of(&self, name: &str) -> &SettingOrigin {
        self.table.get(name).map_or(&self.origin, |node| &node.origin)
    }

    pub fn has_key(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    /// Reports a fault that the caller found in the value of `name`.
    pub fn report_fault(&self, name: &str, message: impl Into<String>) {
        self.faults.push(self.origin_of(name), message);
    }

    pub fn faults(&self) -> &'a FaultList {
        self.faults
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.read(name, parse_text)
    }

    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        self.read_list(name, parse_text)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.read(name, |node| match node.value {
            ConfigValue::Flag(flag) => Ok(flag),
            _ => Err("true or false".to_owned()),
        })
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.read(name, |node| parse_integer(node, self.find_key(name)))
    }

    pub fn integers(&self, name: &str) -> Option<Vec<i64>> {
        self.read_list(name, |node| parse_integer(node, self.find_key(name)))
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.read(name, |node| parse_number(node, self.find_key(name)))
    }

    /// Reads a number that may be in quotes, as exact amounts are.
    pub fn quotable_number(&self, name: &str) -> Option<f64> {
        self.read(name, |node| parse_number(&unquote_number(node), self.find_key(name)))
    }

    pub fn quotable_integer(&self, name: &str) -> Option<i64> {
        self.read(name, |node| parse_integer(&unquote_number(node), self.find_key(name)))
    }

    pub fn seconds(&self, name: &str) -> Option<Duration> {
        let seconds = self.read(name, |node| parse_integer(node, self.find_key(name)))?;
        u64::try_from(seconds).ok().map(Duration::from_secs)
    }

    /// Reads a decimal amount with the parser of its unit, whose error message tells the operator
    /// what to write.
    pub fn decimal<T, E: std::fmt::Display>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let node = self.node_or_default(name)?;
        let ConfigValue::Text(text) = &node.value else {
            return self.reject_value(name, &node, "a decimal amount in quotes, such as \"0.70\"");
        };
        match parse(text) {
            Ok(amount) => Some(amount),
            Err(error) => {
                let message = format!("`{name}` in {}: {error}", self.place);
                self.faults.push(&node.origin, message);
                None
            }
        }
    }

    pub fn address(&self, name: &str) -> Option<SocketAddr> {
        self.read(name, |node| {
            let expected = || "an address and port such as \"127.0.0.1:8080\"".to_owned();
            parse_text(node)?.parse().map_err(|_| expected())
        })
    }

    pub fn url(&self, name: &str) -> Option<String> {
        self.read(name, |node| parse_url(node, self.find_key(name)))
    }

    pub fn urls(&self, name: &str) -> Option<Vec<String>> {
        self.read_list(name, |node| parse_url(node, self.find_key(name)))
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.read(name, parse_text).map(PathBuf::from)
    }

    pub fn date(&self, name: &str) -> Option<Timestamp> {
        self.read(name, |node| {
            let written = match &node.value {
                ConfigValue::Text(text) | ConfigValue::Date(text) => text.as_str(),
                _ => "",
            };
            Timestamp::parse(written).ok_or_else(|| {
                "a date such as 2026-11-15 or a moment such as 2026-11-15T03:00:00Z".to_owned()
            })
        })
    }

    /// Reads one of the names that the key allows.
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        let node = self.node_or_default(name)?;
        self.match_choice(name, &node)
    }

    pub fn choices(&self, name: &str) -> Option<Vec<&'static str>> {
        let node = self.node_or_default(name)?;
        let ConfigValue::List(items) = &node.value else {
            return self.reject_value(name, &node, "a list");
        };
        Some(items.iter().filter_map(|item| self.match_choice(name, item)).collect())
    }

    /// Returns a reader of the inner table `name`.
    pub fn table_reader(&self, name: &str, keys: &'static [ConfigKey]) -> Option<TableReader<'a>> {
        let node = self.present_node(name)?;
        let place = format!("`{name}` of {}", self.place);
        self.inner_reader(name, node, keys, place)
    }

    /// Returns readers of the list of inner tables `name`.
    pub fn table_readers(&self, name: &str, keys: &'static [ConfigKey]) -> Vec<TableReader<'a>> {
        let Some(node) = self.present_node(name) else { return Vec::new() };
        let ConfigValue::List(items) = &node.value else {
            self.report_wrong_value(name, node, "a list of tables");
            return Vec::new();
        };
        let place = format!("`{name}` of {}", self.place);
        items.iter().filter_map(|item| self.inner_reader(name, item, keys, place.clone())).collect()
    }

    /// Returns readers of the tables inside `name`, with their names.
    pub fn named_tables(
        &self,
        name: &str,
        keys: &'static [ConfigKey],
    ) -> Vec<(&'a str, TableReader<'a>)> {
        let Some(node) = self.present_node(name) else { return Vec::new() };
        let ConfigValue::Table(table) = &node.value else {
            self.report_wrong_value(name, node, "a table of tables");
            return Vec::new();
        };
        let read = |(entry, node): (&'a str, &'a ConfigNode)| {
            let place = format!("`{name}.{entry}` of {}", self.place);
            Some((entry, self.inner_reader(entry, node, keys, place)?))
        };
        table.entries().filter_map(read).collect()
    }

    fn inner_reader(
        &self,
        name: &str,
        node: &'a ConfigNode,
        keys: &'static [ConfigKey],
        place: String,
    ) -> Option<TableReader<'a>> {
        let ConfigValue::Table(table) = &node.value else {
            return self.reject_value(name, node, "a table");
        };
        let inner = TableReader::new(table, keys, place, node.origin.clone(), self.faults);
        Some(TableReader { resolver: self.resolver, ..inner })
    }

    fn match_choice(&self, name: &str, node: &ConfigNode) -> Option<&'static str> {
        let (ValueKind::Choice(allowed) | ValueKind::Choices(allowed)) = self.find_key(name).kind
        else {
            unreachable!("`{name}` is declared as a choice");
        };
        let ConfigValue::Text(written) = &node.value else {
            return self.reject_value(name, node, &one_of(allowed));
        };
        let found = allowed.iter().copied().find(|option| option == written);
        if found.is_none() {
            let hint = did_you_mean(written, allowed.iter().copied());
            let expected = one_of(allowed);
            let shown = shorten_for_message(&node.value.to_string());
            let message =
                format!("`{name}` in {} must be {expected}, not {shown}{hint}", self.place);
            self.faults.push(&node.origin, message);
        }
        found
    }

    fn read<T>(&self, name: &str, parse: impl Fn(&ConfigNode) -> Result<T, String>) -> Option<T> {
        let node = self.node_or_default(name)?;
        match parse(&node) {
            Ok(value) => Some(value),
            Err(expected) => self.reject_value(name, &node, &expected),
        }
    }

    /// Parses every item; invalid ones are reported and skipped.
    fn read_list<T>(
        &self,
        name: &str,
        parse: impl Fn(&ConfigNode) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let node = self.node_or_default(name)?;
        let ConfigValue::List(items) = &node.value else {
            return self.reject_value(name, &node, "a list");
        };
        let mut values = Vec::new();
        for item in items {
            match parse(item) {
                Ok(value) => values.push(value),
                Err(expected) => self.report_wrong_value(name, item, &expected),
            }
        }
        Some(values)
    }

    /// Returns the value of a key, or its default.
    pub(crate) fn node_or_default(&self, name: &str) -> Option<ConfigNode> {
        if let Some(node) = self.present_node(name) {
            return Some(node.clone());
        }
        let AbsentKeyRule::Default(literal) = self.find_key(name).otherwise else { return None };
        Some(default_node(literal))
    }

    /// Returns the value of a key; reports a fault if a required key is absent.
    fn present_node(&self, name: &str) -> Option<&'a ConfigNode> {
        let key = self.find_key(name);
        let node = self.table.get(name);
        if node.is_none() && key.otherwise == AbsentKeyRule::Required {
            self.faults.push(&self.origin, format!("`{name}` is missing in {}", self.place));
        }
        node
    }

    pub(crate) fn find_key(&self, name: &str) -> &'static ConfigKey {
        let declared = self.keys.iter().find(|key| key.name == name);
        declared.expect("every key that is read is declared in its table")
    }

    fn reject_value<T>(&self, name: &str, node: &ConfigNode, expected: &str) -> Option<T> {
        self.report_wrong_value(name, node, expected);
        None
    }

    fn report_wrong_value(&self, name: &str, node: &ConfigNode, expected: &str) {
        let found = match &node.value {
            ConfigValue::List(_) | ConfigValue::Table(_) => node.value.describe_type().to_owned(),
            scalar => shorten_for_message(&scalar.to_string()),
        };
        let message = format!("`{name}` in {} must be {expected}, not {found}", self.place);
        self.faults.push(&node.origin, message);
    }
}

/// Parses a default as if it were in a file.
pub(crate) fn default_node(literal: &str) -> ConfigNode {
    let faults = FaultList::default();
    let table = parse_toml("default", &format!("value = {literal}"), &faults);
    let node = table.get("value").expect("a declared default is valid TOML");
    ConfigNode { value: node.value.clone(), origin: SettingOrigin::Default }
}

fn one_of(allowed: &[&str]) -> String {
    let quoted: Vec<String> = allowed.iter().map(|option| format!("\"{option}\"")).collect();
    format!("one of {}", quoted.join(", "))
}
