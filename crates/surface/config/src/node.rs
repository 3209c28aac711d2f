//! TOML as a tree in which every value has its origin.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::fault::FaultList;
use crate::origin::SettingOrigin;

/// A value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigNode {
    pub value: ConfigValue,
    pub origin: SettingOrigin,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ConfigValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    /// A TOML date or date-time, as written.
    Date(String),
    List(Vec<ConfigNode>),
    Table(ConfigTable),
}

impl ConfigValue {
    /// Returns the type of the value for messages such as `expected a list, found text`.
    pub fn describe_type(&self) -> &'static str {
        match self {
            ConfigValue::Text(_) => "text",
            ConfigValue::Integer(_) => "a whole number",
            ConfigValue::Number(_) => "a number",
            ConfigValue::Flag(_) => "true or false",
            ConfigValue::Date(_) => "a date",
            ConfigValue::List(_) => "a list",
            ConfigValue::Table(_) => "a table",
        }
    }
}

/// Displayed as TOML.
impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigValue::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            ConfigValue::Integer(integer) => write!(f, "{integer}"),
            ConfigValue::Number(number) => write!(f, "{number:?}"),
            ConfigValue::Flag(flag) => write!(f, "{flag}"),
            ConfigValue::Date(date) => f.write_str(date),
            ConfigValue::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.value.to_string()).collect();
                write!(f, "[{}]", items.join(", "))
            }
            ConfigValue::Table(table) => {
                let entries: Vec<String> = table
                    .entries()
                    .map(|(name, node)| format!("{name} = {}", node.value))
                    .collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

/// Values by name, in file order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigTable {
    entries: Vec<(String, ConfigNode)>,
}

impl ConfigTable {
    pub const EMPTY: ConfigTable = ConfigTable { entries: Vec::new() };

    pub fn get(&self, name: &str) -> Option<&ConfigNode> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &ConfigNode)> {
        self.entries.iter().map(|(name, node)| (name.as_str(), node))
    }

    /// Sets a value, replacing an earlier one of the same name.
    pub fn insert(&mut self, name: &str, node: ConfigNode) {
        match self.entries.iter_mut().find(|(known, _)| known == name) {
            Some((_, earlier)) => *earlier = node,
            None => self.entries.push((name.to_owned(), node)),
        }
    }

    /// Sets a value at a path of tables, creating missing tables. If a table on the path is another
    /// value, the path is ignored and the reader reports that value.
    pub fn insert_at(&mut self, path: &[&str], node: ConfigNode) {
        let [first, rest @ ..] = path else { return };
        if rest.is_empty() {
            self.insert(first, node);
            return;
        }
        if self.get(first).is_none() {
            let value = ConfigValue::Table(ConfigTable::default());
            self.insert(first, ConfigNode { value, origin: node.origin.clone() });
        }
        let found = self.entries.iter_mut().find(|(known, _)| known == first);
        if let Some((_, ConfigNode { value: ConfigValue::Table(table), .. })) = found {
            table.insert_at(rest, node);
        }
    }
}

/// Parses TOML text. Syntax errors are reported with their lines; the parts that could be parsed
/// are returned.
pub fn parse_toml(path: &str, text: &str, faults: &FaultList) -> ConfigTable {
    let lines = LineIndex::from_text(path, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let origin = lines.origin_at(&error.span().unwrap_or_default());
        faults.push(&origin, error.message().trim_end());
    }
    table_of(table.get_ref(), &lines, faults)
}

/// Converts byte offsets to line numbers.
struct LineIndex {
    path: Arc<str>,
    /// The byte offset of the start of each line.
    starts: Vec<usize>,
}

impl LineIndex {
    fn from_text(path: &str, text: &str) -> LineIndex {
        let after_breaks = text.match_indices('\n').map(|(offset, _)| offset + 1);
        LineIndex { path: path.into(), starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    fn origin_at(&self, span: &Range<usize>) -> SettingOrigin {
        let line = self.starts.partition_point(|start| *start <= span.start);
        SettingOrigin::File { path: Arc::clone(&self.path), line }
    }
}

fn table_of(table: &DeTable<'_>, lines: &LineIndex, faults: &FaultList) -> ConfigTable {
    let mut entries: Vec<(usize, String, ConfigNode)> = table
        .iter()
        .map(|(name, value)| {
            let origin = lines.origin_at(&name.span());
            let value = value_of(value.get_ref(), &origin, lines, faults);
            (name.span().start, name.get_ref().to_string(), ConfigNode { value, origin })
        })
        .collect();
    entries.sort_by_key(|(offset, ..)| *offset);
    ConfigTable { entries: entries.into_iter().map(|(_, name, node)| (name, node)).collect() }
}

fn value_of(
    value: &DeValue<'_>,
    origin: &SettingOrigin,
    lines: &LineIndex,
    faults: &FaultList,
) -> ConfigValue {
    match value {
        DeValue::String(text) => ConfigValue::Text(text.to_string()),
        DeValue::Integer(digits) => {
            let Ok(integer) = i64::from_str_radix(digits.as_str(), digits.radix()) else {
                faults.push(origin, format!("`{}` is too large", digits.as_str()));
                return ConfigValue::Integer(0);
            };
            ConfigValue::Integer(integer)
        }
        DeValue::Float(digits) => ConfigValue::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => ConfigValue::Flag(*flag),
        DeValue::Datetime(date) => ConfigValue::Date(date.to_string()),
        DeValue::Array(items) => ConfigValue::List(
            items
                .iter()
                .map(|item| {
                    let origin = lines.origin_at(&item.span());
                    let value = value_of(item.get_ref(), &origin, lines, faults);
                    ConfigNode { value, origin }
                })
                .collect(),
        ),
        DeValue::Table(table) => ConfigValue::Table(table_of(table, lines, faults)),
    }
}
