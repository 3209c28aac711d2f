//! Reads one table: returns typed values by name, and reports unknown or invalid ones.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use moment::Timestamp;

use crate::fault::{Faults, did_you_mean};
use crate::key::{Key, Kind, Otherwise};
use crate::node::{Node, Table, Value, parse};
use crate::origin::Origin;
use crate::scalar::{integer, number, shown, text, url, without_quotes};

/// Reads the values of one table by the names in `keys`.
///
/// Every accessor returns `None` for an absent value without a default, and for an invalid value,
/// whose fault it reports. Callers read all values first and give up after that, so that all faults
/// are reported: `Some(Provider { id: id?, … })`.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    table: &'a Table,
    keys: &'static [Key],
    /// The name of the table in messages: `[server]`, `[[model]] "llama"`.
    place: String,
    /// The origin of the table itself, to which missing keys are attributed.
    origin: Origin,
    faults: &'a Faults,
}

impl<'a> Reader<'a> {
    /// Creates a reader, and reports names in the table that are not keys.
    pub fn new(
        table: &'a Table,
        keys: &'static [Key],
        place: impl Into<String>,
        origin: Origin,
        faults: &'a Faults,
    ) -> Reader<'a> {
        let reader = Reader { table, keys, place: place.into(), origin, faults };
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

    /// The origin of the table.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the origin of a value; the origin of the table if the value is absent.
    pub fn origin_of(&self, name: &str) -> &Origin {
        self.table.get(name).map_or(&self.origin, |node| &node.origin)
    }

    pub fn has(&self, name: &str) -> bool {
        self.table.get(name).is_some()
    }

    /// Reports a fault that the caller found in the value of `name`.
    pub fn fault(&self, name: &str, message: impl Into<String>) {
        self.faults.push(self.origin_of(name), message);
    }

    pub fn faults(&self) -> &'a Faults {
        self.faults
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.read(name, text)
    }

    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        self.read_list(name, text)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.read(name, |node| match node.value {
            Value::Flag(flag) => Ok(flag),
            _ => Err("true or false".to_owned()),
        })
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.read(name, |node| integer(node, self.key(name)))
    }

    pub fn integers(&self, name: &str) -> Option<Vec<i64>> {
        self.read_list(name, |node| integer(node, self.key(name)))
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.read(name, |node| number(node, self.key(name)))
    }

    /// Reads a number that may be in quotes, as exact amounts are.
    pub fn quotable_number(&self, name: &str) -> Option<f64> {
        self.read(name, |node| number(&without_quotes(node), self.key(name)))
    }

    pub fn quotable_integer(&self, name: &str) -> Option<i64> {
        self.read(name, |node| integer(&without_quotes(node), self.key(name)))
    }

    pub fn seconds(&self, name: &str) -> Option<Duration> {
        let seconds = self.read(name, |node| integer(node, self.key(name)))?;
        u64::try_from(seconds).ok().map(Duration::from_secs)
    }

    /// Reads a decimal amount with the parser of its unit, whose error message tells the operator
    /// what to write.
    pub fn decimal<T, E: std::fmt::Display>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let node = self.node(name)?;
        let Value::Text(text) = &node.value else {
            return self.wrong(name, &node, "a decimal amount in quotes, such as \"0.70\"");
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
            text(node)?.parse().map_err(|_| expected())
        })
    }

    pub fn url(&self, name: &str) -> Option<String> {
        self.read(name, |node| url(node, self.key(name)))
    }

    pub fn urls(&self, name: &str) -> Option<Vec<String>> {
        self.read_list(name, |node| url(node, self.key(name)))
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.read(name, text).map(PathBuf::from)
    }

    pub fn date(&self, name: &str) -> Option<Timestamp> {
        self.read(name, |node| {
            let written = match &node.value {
                Value::Text(text) | Value::Date(text) => text.as_str(),
                _ => "",
            };
            Timestamp::parse(written).ok_or_else(|| {
                "a date such as 2026-11-15 or a moment such as 2026-11-15T03:00:00Z".to_owned()
            })
        })
    }

    /// Reads one of the names that the key allows.
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        let node = self.node(name)?;
        self.chosen(name, &node)
    }

    pub fn choices(&self, name: &str) -> Option<Vec<&'static str>> {
        let node = self.node(name)?;
        let Value::List(items) = &node.value else {
            return self.wrong(name, &node, "a list");
        };
        Some(items.iter().filter_map(|item| self.chosen(name, item)).collect())
    }

    /// Returns a reader of the inner table `name`.
    pub fn table(&self, name: &str, keys: &'static [Key]) -> Option<Reader<'a>> {
        let node = self.given(name)?;
        let place = format!("`{name}` of {}", self.place);
        self.inner(name, node, keys, place)
    }

    /// Returns readers of the list of inner tables `name`.
    pub fn tables(&self, name: &str, keys: &'static [Key]) -> Vec<Reader<'a>> {
        let Some(node) = self.given(name) else { return Vec::new() };
        let Value::List(items) = &node.value else {
            self.report(name, node, "a list of tables");
            return Vec::new();
        };
        let place = format!("`{name}` of {}", self.place);
        items.iter().filter_map(|item| self.inner(name, item, keys, place.clone())).collect()
    }

    /// Returns readers of the tables inside `name`, with their names.
    pub fn named_tables(&self, name: &str, keys: &'static [Key]) -> Vec<(&'a str, Reader<'a>)> {
        let Some(node) = self.given(name) else { return Vec::new() };
        let Value::Table(table) = &node.value else {
            self.report(name, node, "a table of tables");
            return Vec::new();
        };
        let read = |(entry, node): (&'a str, &'a Node)| {
            let place = format!("`{name}.{entry}` of {}", self.place);
            Some((entry, self.inner(entry, node, keys, place)?))
        };
        table.entries().filter_map(read).collect()
    }

    fn inner(
        &self,
        name: &str,
        node: &'a Node,
        keys: &'static [Key],
        place: String,
    ) -> Option<Reader<'a>> {
        let Value::Table(table) = &node.value else {
            return self.wrong(name, node, "a table");
        };
        Some(Reader::new(table, keys, place, node.origin.clone(), self.faults))
    }

    fn chosen(&self, name: &str, node: &Node) -> Option<&'static str> {
        let (Kind::Choice(allowed) | Kind::Choices(allowed)) = self.key(name).kind else {
            unreachable!("`{name}` is declared as a choice");
        };
        let Value::Text(written) = &node.value else {
            return self.wrong(name, node, &one_of(allowed));
        };
        let found = allowed.iter().copied().find(|option| option == written);
        if found.is_none() {
            let hint = did_you_mean(written, allowed.iter().copied());
            let expected = one_of(allowed);
            let shown = shown(&node.value.to_string());
            let message =
                format!("`{name}` in {} must be {expected}, not {shown}{hint}", self.place);
            self.faults.push(&node.origin, message);
        }
        found
    }

    fn read<T>(&self, name: &str, parse: impl Fn(&Node) -> Result<T, String>) -> Option<T> {
        let node = self.node(name)?;
        match parse(&node) {
            Ok(value) => Some(value),
            Err(expected) => self.wrong(name, &node, &expected),
        }
    }

    /// Parses every item; invalid ones are reported and skipped.
    fn read_list<T>(
        &self,
        name: &str,
        parse: impl Fn(&Node) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let node = self.node(name)?;
        let Value::List(items) = &node.value else {
            return self.wrong(name, &node, "a list");
        };
        let mut values = Vec::new();
        for item in items {
            match parse(item) {
                Ok(value) => values.push(value),
                Err(expected) => self.report(name, item, &expected),
            }
        }
        Some(values)
    }

    /// Returns the value of a key, or its default.
    pub(crate) fn node(&self, name: &str) -> Option<Node> {
        if let Some(node) = self.given(name) {
            return Some(node.clone());
        }
        let Otherwise::Default(literal) = self.key(name).otherwise else { return None };
        Some(default_node(literal))
    }

    /// Returns the value of a key; reports a fault if a required key is absent.
    fn given(&self, name: &str) -> Option<&'a Node> {
        let key = self.key(name);
        let node = self.table.get(name);
        if node.is_none() && key.otherwise == Otherwise::Required {
            self.faults.push(&self.origin, format!("`{name}` is missing in {}", self.place));
        }
        node
    }

    pub(crate) fn key(&self, name: &str) -> &'static Key {
        let declared = self.keys.iter().find(|key| key.name == name);
        declared.expect("every key that is read is declared in its table")
    }

    fn wrong<T>(&self, name: &str, node: &Node, expected: &str) -> Option<T> {
        self.report(name, node, expected);
        None
    }

    fn report(&self, name: &str, node: &Node, expected: &str) {
        let found = match &node.value {
            Value::List(_) | Value::Table(_) => node.value.described().to_owned(),
            scalar => shown(&scalar.to_string()),
        };
        let message = format!("`{name}` in {} must be {expected}, not {found}", self.place);
        self.faults.push(&node.origin, message);
    }
}

/// Parses a default as if it were in a file.
pub(crate) fn default_node(literal: &str) -> Node {
    let faults = Faults::default();
    let table = parse("default", &format!("value = {literal}"), &faults);
    let node = table.get("value").expect("a declared default is valid TOML");
    Node { value: node.value.clone(), origin: Origin::Default }
}

fn one_of(allowed: &[&str]) -> String {
    let quoted: Vec<String> = allowed.iter().map(|option| format!("\"{option}\"")).collect();
    format!("one of {}", quoted.join(", "))
}
