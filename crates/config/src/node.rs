//! TOML as a tree in which every value has its origin.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::fault::Faults;
use crate::origin::Origin;

/// A value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    /// A TOML date or date-time, as written.
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// Returns the type of the value for messages such as `expected a list, found text`.
    pub fn described(&self) -> &'static str {
        match self {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Displayed as TOML.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            Value::Integer(integer) => write!(f, "{integer}"),
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Date(date) => f.write_str(date),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.value.to_string()).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Value::Table(table) => {
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
pub struct Table {
    entries: Vec<(String, Node)>,
}

impl Table {
    pub const EMPTY: Table = Table { entries: Vec::new() };

    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.entries.iter().map(|(name, node)| (name.as_str(), node))
    }

    /// Sets a value, replacing an earlier one of the same name.
    pub fn insert(&mut self, name: &str, node: Node) {
        match self.entries.iter_mut().find(|(known, _)| known == name) {
            Some((_, earlier)) => *earlier = node,
            None => self.entries.push((name.to_owned(), node)),
        }
    }

    /// Sets a value at a path of tables, creating missing tables. If a table on the path is another
    /// value, the path is ignored and the reader reports that value.
    pub fn insert_at(&mut self, path: &[&str], node: Node) {
        let [first, rest @ ..] = path else { return };
        if rest.is_empty() {
            self.insert(first, node);
            return;
        }
        if self.get(first).is_none() {
            let value = Value::Table(Table::default());
            self.insert(first, Node { value, origin: node.origin.clone() });
        }
        let found = self.entries.iter_mut().find(|(known, _)| known == first);
        if let Some((_, Node { value: Value::Table(table), .. })) = found {
            table.insert_at(rest, node);
        }
    }
}

/// Parses TOML text. Syntax errors are reported with their lines; the parts that could be parsed
/// are returned.
pub fn parse(path: &str, text: &str, faults: &Faults) -> Table {
    let lines = Lines::of(path, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let origin = lines.origin(&error.span().unwrap_or_default());
        faults.push(&origin, error.message().trim_end());
    }
    table_of(table.get_ref(), &lines, faults)
}

/// Converts byte offsets to line numbers.
struct Lines {
    path: Arc<str>,
    /// The byte offset of the start of each line.
    starts: Vec<usize>,
}

impl Lines {
    fn of(path: &str, text: &str) -> Lines {
        let after_breaks = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Lines { path: path.into(), starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    fn origin(&self, span: &Range<usize>) -> Origin {
        let line = self.starts.partition_point(|start| *start <= span.start);
        Origin::File { path: Arc::clone(&self.path), line }
    }
}

fn table_of(table: &DeTable<'_>, lines: &Lines, faults: &Faults) -> Table {
    let mut entries: Vec<(usize, String, Node)> = table
        .iter()
        .map(|(name, value)| {
            let origin = lines.origin(&name.span());
            let value = value_of(value.get_ref(), &origin, lines, faults);
            (name.span().start, name.get_ref().to_string(), Node { value, origin })
        })
        .collect();
    entries.sort_by_key(|(offset, ..)| *offset);
    Table { entries: entries.into_iter().map(|(_, name, node)| (name, node)).collect() }
}

fn value_of(value: &DeValue<'_>, origin: &Origin, lines: &Lines, faults: &Faults) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => {
            let Ok(integer) = i64::from_str_radix(digits.as_str(), digits.radix()) else {
                faults.push(origin, format!("`{}` is too large", digits.as_str()));
                return Value::Integer(0);
            };
            Value::Integer(integer)
        }
        DeValue::Float(digits) => Value::Number(digits.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| {
                    let origin = lines.origin(&item.span());
                    let value = value_of(item.get_ref(), &origin, lines, faults);
                    Node { value, origin }
                })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(table_of(table, lines, faults)),
    }
}
