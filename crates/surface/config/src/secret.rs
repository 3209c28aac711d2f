//! Secrets: given by reference, resolved once, never printed.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::environment::ProcessEnvironment;
use crate::fault::FaultList;
use crate::node::{ConfigNode, ConfigValue};
use crate::reader::TableReader;
use crate::scalar::checked_url;

/// Limit of a secret's file; a larger one was named by mistake.
const SECRET_BYTES_MAX: u64 = 64 * 1024;

/// Text that is readable only through [`SecretString::expose`]; `Debug` and `Display` print `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    pub fn new(text: impl Into<String>) -> SecretString {
        SecretString(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Resolves references to secrets.
#[derive(Debug)]
pub struct SecretResolver<'a> {
    environment: &'a ProcessEnvironment,
    /// The folder of the configuration file, which relative `file:` paths start from.
    folder: PathBuf,
    /// Warnings about secrets written into the configuration itself.
    literals: FaultList,
}

impl<'a> SecretResolver<'a> {
    pub fn new(environment: &'a ProcessEnvironment, folder: &Path) -> SecretResolver<'a> {
        SecretResolver { environment, folder: folder.to_owned(), literals: FaultList::default() }
    }

    /// Resolves the secret of a key; reports a fault if the reference cannot be resolved.
    pub fn resolve_secret(&self, reader: &TableReader<'_>, name: &str) -> Option<SecretString> {
        let node = reader.node_or_default(name)?;
        let ConfigValue::Text(written) = &node.value else {
            let found = node.value.describe_type();
            let message =
                format!("`{name}` must be a secret in quotes, such as \"env:NAME\", not {found}");
            reader.report_fault(name, message);
            return None;
        };
        self.resolve_text(reader, name, written)
    }

    /// Resolves a table of secrets by name, such as the headers of a provider.
    pub fn resolve_secret_map(
        &self,
        reader: &TableReader<'_>,
        name: &str,
    ) -> Vec<(String, SecretString)> {
        let Some(node) = reader.node_or_default(name) else { return Vec::new() };
        let ConfigValue::Table(table) = &node.value else {
            reader.report_fault(name, format!("`{name}` must be a table of texts"));
            return Vec::new();
        };
        let mut secrets = Vec::new();
        for (entry, value) in table.entries() {
            let ConfigValue::Text(written) = &value.value else {
                reader.faults().push(&value.origin, format!("`{name}.{entry}` must be text"));
                continue;
            };
            match self.resolve_reference(written) {
                Ok(text) => secrets.push((entry.to_owned(), SecretString(text))),
                Err(problem) => {
                    reader.faults().push(&value.origin, format!("`{name}.{entry}`: {problem}"));
                }
            }
        }
        secrets
    }

    /// Resolves a URL that may contain a key. A literal URL causes no warning, because most contain
    /// no key.
    pub fn resolve_url(&self, reader: &TableReader<'_>, name: &str) -> Option<SecretString> {
        let node = reader.node_or_default(name)?;
        self.resolve_url_node(reader, name, &node)
    }

    /// Resolves a list of at least one such URL.
    pub fn resolve_urls(&self, reader: &TableReader<'_>, name: &str) -> Option<Vec<SecretString>> {
        let node = reader.node_or_default(name)?;
        let ConfigValue::List(items) = &node.value else {
            reader.report_fault(
                name,
                format!("`{name}` must be a list, not {}", node.value.describe_type()),
            );
            return None;
        };
        if items.is_empty() {
            reader.report_fault(name, format!("`{name}` must name at least one URL"));
        }
        Some(items.iter().filter_map(|item| self.resolve_url_node(reader, name, item)).collect())
    }

    /// Reads a file by a path relative to the folder of the configuration.
    pub fn read_file(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
        let path = self.folder.join(path);
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let file = std::fs::File::open(&path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes_max < bytes.len() as u64 {
            return Err(format!("{} has more than {} KiB", path.display(), bytes_max / 1024));
        }
        Ok(bytes)
    }

    /// Returns the warnings about literal secrets.
    pub fn into_warnings(self) -> FaultList {
        self.literals
    }

    fn resolve_text(
        &self,
        reader: &TableReader<'_>,
        name: &str,
        written: &str,
    ) -> Option<SecretString> {
        match self.resolve_reference(written) {
            Ok(text) => {
                if !is_reference(written) {
                    let advice = "write \"env:NAME\" or \"file:path\" to keep it out of the file";
                    let message = format!("`{name}` holds the secret itself; {advice}");
                    self.literals.push(reader.origin_of(name), message);
                }
                Some(SecretString(text))
            }
            Err(problem) => {
                reader.report_fault(name, format!("`{name}`: {problem}"));
                None
            }
        }
    }

    /// Resolves and checks a URL. Faults do not repeat the written value, because it may contain a
    /// key.
    fn resolve_url_node(
        &self,
        reader: &TableReader<'_>,
        name: &str,
        node: &ConfigNode,
    ) -> Option<SecretString> {
        let found = match &node.value {
            ConfigValue::Text(written) => self.resolve_reference(written),
            other => Err(format!("it must be a URL in quotes, not {}", other.describe_type())),
        };
        let checked = found.and_then(|url| match checked_url(&url, reader.find_key(name)) {
            Ok(()) => Ok(SecretString(url)),
            Err(expected) => Err(format!("it must be {expected}")),
        });
        match checked {
            Ok(url) => Some(url),
            Err(problem) => {
                reader.faults().push(&node.origin, format!("`{name}`: {problem}"));
                None
            }
        }
    }

    fn resolve_reference(&self, written: &str) -> Result<String, String> {
        if let Some(variable) = written.strip_prefix("env:") {
            let found = self.environment.get(variable).filter(|value| !value.is_empty());
            return found
                .map(str::to_owned)
                .ok_or_else(|| format!("the environment variable {variable} is not set"));
        }
        if let Some(path) = written.strip_prefix("file:") {
            return read_file(&self.folder.join(path));
        }
        if written.trim().is_empty() {
            return Err("it is empty; leave the key out instead".to_owned());
        }
        Ok(written.to_owned())
    }
}

/// True if a secret is given by reference. References may be shown, secrets may not.
pub(crate) fn is_reference(written: &str) -> bool {
    written.starts_with("env:") || written.starts_with("file:")
}

fn read_file(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let file =
        std::fs::File::open(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let mut text = String::new();
    file.take(SECRET_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if SECRET_BYTES_MAX < bytes {
        return Err(format!("{shown} is larger than {SECRET_BYTES_MAX} bytes"));
    }
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(format!("{shown} is empty"));
    }
    Ok(text.to_owned())
}
