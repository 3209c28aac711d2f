//! What may be configured: each key's name, kind, default and meaning, in tables.
//!
//! One table serves the reader (what is accepted), `tollgate init` (the commented file) and the
//! reference in `docs/config.md`, so that none of them can disagree.

/// A table of the file.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// As in the file, without brackets: `server`, `rpc.networks.<network>`.
    pub name: &'static str,
    pub form: Form,
    pub doc: &'static str,
    pub keys: &'static [Key],
}

/// How a section stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `[server]`
    One,
    /// `[[provider]]`
    Many,
    /// A table inside another one, such as a model's `price = { … }`.
    Inner,
}

/// One key of a section.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub otherwise: Otherwise,
    /// What it does, in sentences.
    pub doc: &'static str,
}

impl Key {
    /// A key that must be given.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Key {
        Key { name, kind, otherwise: Otherwise::Required, doc }
    }

    /// A key that may be left out, and then means nothing.
    pub const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Key {
        Key { name, kind, otherwise: Otherwise::Absent, doc }
    }

    /// A key with a default, written as TOML: `"\"auto\""`, `"600"`, `"[]"`.
    pub const fn with_default(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        doc: &'static str,
    ) -> Key {
        Key { name, kind, otherwise: Otherwise::Default(default), doc }
    }
}

/// What holds when a key is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    Required,
    Absent,
    Default(&'static str),
}

/// What a value must look like. Bounds are inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Text,
    Texts,
    /// Names to texts.
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
    /// A duration in whole seconds; such keys end in `_s`.
    Seconds {
        least: i64,
        most: i64,
    },
    /// An exact decimal amount as text, such as `"0.70"`; never a float.
    Decimal,
    /// `address:port`.
    Address,
    /// A URL that begins with one of these, such as `http://`.
    Url(&'static [&'static str]),
    Urls(&'static [&'static str]),
    Path,
    /// `env:NAME`, `file:path`, or the secret itself.
    Secret,
    /// Names to secrets.
    SecretMap,
    /// A URL whose path may hold a key, as those of chain nodes do; also `env:` and `file:`.
    SecretUrl(&'static [&'static str]),
    SecretUrls(&'static [&'static str]),
    /// `YYYY-MM-DD` or a moment in RFC 3339, as text or as a TOML date.
    Date,
    Choice(&'static [&'static str]),
    Choices(&'static [&'static str]),
    /// One inner table, a list of them, or tables by name. Their keys are told to the reader.
    Table,
    Tables,
    NamedTables,
}

impl Kind {
    /// The kind in words, for the reference.
    pub fn described(self) -> String {
        match self {
            Kind::Text => "text".to_owned(),
            Kind::Texts => "list of texts".to_owned(),
            Kind::TextMap => "table of texts".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Integer { least, most: i64::MAX } => format!("whole number from {least}"),
            Kind::Integer { least, most } => format!("whole number, {least} to {most}"),
            Kind::Integers { least, most } => format!("list of whole numbers, {least} to {most}"),
            Kind::Number { least, most } => format!("number, {least} to {most}"),
            Kind::Seconds { least, most } => format!("seconds, {least} to {most}"),
            Kind::Decimal => "decimal amount in quotes".to_owned(),
            Kind::Address => "address:port".to_owned(),
            Kind::Url(starts) => format!("URL: {}", code_list(starts)),
            Kind::Urls(starts) => format!("list of URLs: {}", code_list(starts)),
            Kind::Path => "path".to_owned(),
            Kind::Secret => "secret".to_owned(),
            Kind::SecretMap => "table of secrets".to_owned(),
            Kind::SecretUrl(starts) => format!("secret URL: {}", code_list(starts)),
            Kind::SecretUrls(starts) => format!("list of secret URLs: {}", code_list(starts)),
            Kind::Date => "date or moment".to_owned(),
            Kind::Choice(options) => code_list(options),
            Kind::Choices(options) => format!("list of {}", code_list(options)),
            Kind::Table => "table".to_owned(),
            Kind::Tables => "list of tables".to_owned(),
            Kind::NamedTables => "tables by name".to_owned(),
        }
    }
}

fn code_list(options: &[&str]) -> String {
    let quoted: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
    quoted.join(", ")
}
