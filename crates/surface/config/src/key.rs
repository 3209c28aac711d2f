//! Declarations of all configuration keys: name, kind, default and documentation.
//!
//! The same tables are used by the reader (validation), `tollgate init` (the commented file) and
//! the reference in `docs/config.md`, so that they cannot disagree.

/// A table of the configuration file.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSection {
    /// The name as in the file, without brackets: `server`, `rpc.networks.<network>`.
    pub name: &'static str,
    pub form: SectionForm,
    pub doc: &'static str,
    pub keys: &'static [ConfigKey],
}

/// The syntax of a section in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionForm {
    /// `[server]`
    One,
    /// `[[provider]]`
    Many,
    /// A table inside another one, such as a model's `price = { … }`.
    Inner,
}

/// One key of a section.
#[derive(Debug, Clone, Copy)]
pub struct ConfigKey {
    pub name: &'static str,
    pub kind: ValueKind,
    pub otherwise: AbsentKeyRule,
    /// The documentation of the key, in sentences.
    pub doc: &'static str,
}

impl ConfigKey {
    /// Fills lists of keys until their keys are copied.
    pub(crate) const UNNAMED: ConfigKey = ConfigKey::optional("", ValueKind::Text, "");

    /// Declares a key that must be set.
    pub const fn required(name: &'static str, kind: ValueKind, doc: &'static str) -> ConfigKey {
        ConfigKey { name, kind, otherwise: AbsentKeyRule::Required, doc }
    }

    /// Declares a key that may be absent and has no default.
    pub const fn optional(name: &'static str, kind: ValueKind, doc: &'static str) -> ConfigKey {
        ConfigKey { name, kind, otherwise: AbsentKeyRule::Absent, doc }
    }

    /// Declares a key with a default, written as TOML: `"\"auto\""`, `"600"`, `"[]"`.
    pub const fn with_default(
        name: &'static str,
        kind: ValueKind,
        default: &'static str,
        doc: &'static str,
    ) -> ConfigKey {
        ConfigKey { name, kind, otherwise: AbsentKeyRule::Default(default), doc }
    }
}

/// The treatment of an absent key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsentKeyRule {
    Required,
    Absent,
    Default(&'static str),
}

/// The type of a value. Bounds are inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueKind {
    Text,
    Texts,
    /// A table of strings by name.
    TextMap,
    Flag,
    Integer {
        least: i64,
        most: i64,
    },
    Integers {
        least: i64,
        most: i64,
    },
    Number {
        least: f64,
        most: f64,
    },
    /// A duration in whole seconds. Names of such keys end in `_s`.
    Seconds {
        least: i64,
        most: i64,
    },
    /// An exact decimal amount as a string, such as `"0.70"`; never a float.
    Decimal,
    /// `address:port`.
    Address,
    /// A URL that starts with one of these prefixes, such as `http://`.
    Url(&'static [&'static str]),
    Urls(&'static [&'static str]),
    Path,
    /// `env:NAME`, `file:path`, or the secret itself.
    Secret,
    /// A table of secrets by name.
    SecretMap,
    /// A URL whose path may contain an API key, as those of blockchain nodes do. Also `env:` and
    /// `file:`.
    SecretUrl(&'static [&'static str]),
    SecretUrls(&'static [&'static str]),
    /// `YYYY-MM-DD` or an RFC 3339 timestamp, as a string or a TOML date.
    Date,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
    /// An inner table. The reader gets its keys as an argument, also for the list and the map
    /// below.
    Table,
    Tables,
    NamedTables,
}

impl ValueKind {
    /// Returns the description of the kind for the reference.
    pub fn describe(self) -> String {
        match self {
            ValueKind::Text => "text".to_owned(),
            ValueKind::Texts => "list of texts".to_owned(),
            ValueKind::TextMap => "table of texts".to_owned(),
            ValueKind::Flag => "true or false".to_owned(),
            ValueKind::Integer { least, most: i64::MAX } => format!("whole number from {least}"),
            ValueKind::Integer { least, most } => format!("whole number, {least} to {most}"),
            ValueKind::Integers { least, most } => {
                format!("list of whole numbers, {least} to {most}")
            }
            ValueKind::Number { least, most } => format!("number, {least} to {most}"),
            ValueKind::Seconds { least, most } => format!("seconds, {least} to {most}"),
            ValueKind::Decimal => "decimal amount in quotes".to_owned(),
            ValueKind::Address => "address:port".to_owned(),
            ValueKind::Url(starts) => format!("URL: {}", code_list(starts)),
            ValueKind::Urls(starts) => format!("list of URLs: {}", code_list(starts)),
            ValueKind::Path => "path".to_owned(),
            ValueKind::Secret => "secret".to_owned(),
            ValueKind::SecretMap => "table of secrets".to_owned(),
            ValueKind::SecretUrl(starts) => format!("secret URL: {}", code_list(starts)),
            ValueKind::SecretUrls(starts) => format!("list of secret URLs: {}", code_list(starts)),
            ValueKind::Date => "date or moment".to_owned(),
            ValueKind::Choice(options) => code_list(options),
            ValueKind::Choices(options) => format!("list of {}", code_list(options)),
            ValueKind::Table => "table".to_owned(),
            ValueKind::Tables => "list of tables".to_owned(),
            ValueKind::NamedTables => "tables by name".to_owned(),
        }
    }
}

fn code_list(options: &[&str]) -> String {
    let quoted: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
    quoted.join(", ")
}
