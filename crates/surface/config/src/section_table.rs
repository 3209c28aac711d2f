//! `config_section!`: declares a table of the configuration file once. The struct, its reader and
//! the reference in `docs/config.md` are generated from the declaration.
//!
//! ```ignore
//! config_section! {
//!     /// Queued generation of music and videos.
//!     #[section(One, "queue")]
//!     #[derive(Debug, Clone, PartialEq, Eq)]
//!     pub struct QueueConfig {
//!         /// The maximum number of running jobs.
//!         workers: usize = integer(1, 100_000), default(8);
//!         /// Time after which an unretrieved result is deleted.
//!         "keep_media_s" => keep_media: Duration = seconds(60, 7_776_000), default(86400);
//!         /// The name of this node, in lower case.
//!         node: Option<String> = TEXT, optional, parse(check_node_name);
//!     }
//!     check check_times(keep_media, workers);
//! }
//! ```
//!
//! - The doc comment of a key is its text in the reference and in the file of `tollgate init`. It
//!   ends with a full stop. Remarks for programmers are comments with `//`.
//! - The key has the name of the field, or the name in quotes before `=>`.
//! - After `=` stands a [`KeyType`], which must fit the type of the field.
//! - Then follows the rule for an absent key: `required`, `optional` (the field is an `Option`, or a
//!   `Vec` that is empty), or `default(…)` with a value as in the file.
//! - `parse(function)` converts the value: `fn(T) -> Result<U, String>`, in which the error ends the
//!   message "`key` in \[section\] …".
//! - `check function(fields)` calls the function with the reader and the named fields, each as an
//!   `Option`, `None` if it is invalid. It reports faults of values that do not fit together.
//! - `..part: OtherTable;` before the keys adds the keys of another table to this one.

use crate::key::{ConfigKey, ConfigSection, ValueKind};
use crate::key_type::KeyType;
use crate::reader::TableReader;

/// A table of the configuration file that is read as a value.
pub(crate) trait SectionTable: Sized {
    const SECTION: ConfigSection;

    /// Returns `None` if a value is missing or invalid, after reporting all faults of the table.
    fn read(reader: &TableReader<'_>) -> Option<Self>;
}

/// The type of a field whose key may be absent.
pub(crate) trait OptionalField {
    type Value;

    fn from_optional(value: Option<Self::Value>) -> Self;
}

impl<T> OptionalField for Option<T> {
    type Value = T;

    fn from_optional(value: Option<T>) -> Option<T> {
        value
    }
}

impl<T> OptionalField for Vec<T> {
    type Value = Vec<T>;

    fn from_optional(value: Option<Vec<T>>) -> Vec<T> {
        value.unwrap_or_default()
    }
}

/// A conversion of the value of a key. The error ends the message "`key` in \[section\] …".
pub(crate) type ParseValue<T, U> = fn(T) -> Result<U, String>;

/// Accepts every value: the conversion of keys without `parse`.
pub(crate) fn keep_value<T>(value: T) -> Result<T, String> {
    Ok(value)
}

/// Converts zero to `None`, for keys in which 0 means "no limit" or "never".
pub(crate) fn none_if_zero<T: Default + PartialEq>(value: T) -> Result<Option<T>, String> {
    Ok((value != T::default()).then_some(value))
}

/// Returns the kind of a key. The conversion determines the type parameter of the key's type.
pub(crate) const fn kind_of<T, U>(key_type: &KeyType<T>, _: ParseValue<T, U>) -> ValueKind {
    key_type.kind
}

/// Reads and converts the value of a key.
pub(crate) fn read_key<T, U>(
    reader: &TableReader<'_>,
    name: &str,
    key_type: &KeyType<T>,
    parse: ParseValue<T, U>,
) -> Option<U> {
    match parse((key_type.read)(reader, name)?) {
        Ok(value) => Some(value),
        Err(problem) => {
            reader.report_fault(name, format!("`{name}` in {} {problem}", reader.place()));
            None
        }
    }
}

pub(crate) const fn count_keys(tables: &[&[ConfigKey]]) -> usize {
    let mut count = 0;
    let mut table = 0;
    while table < tables.len() {
        count += tables[table].len();
        table += 1;
    }
    count
}

/// Returns the keys of several tables as one list.
pub(crate) const fn join_keys<const COUNT: usize>(tables: &[&[ConfigKey]]) -> [ConfigKey; COUNT] {
    let mut joined = [ConfigKey::UNNAMED; COUNT];
    let mut count = 0;
    let mut table = 0;
    while table < tables.len() {
        let mut index = 0;
        while index < tables[table].len() {
            joined[count] = tables[table][index];
            count += 1;
            index += 1;
        }
        table += 1;
    }
    joined
}

/// Declares a table of the configuration file. The documentation of this module describes its form.
macro_rules! config_section {
    (
        $(#[doc = $section_doc:literal])+
        #[section($form:ident, $section_name:literal)]
        $(#[$attribute:meta])*
        $vis:vis struct $Name:ident {
            $(..$part:ident: $Part:ty;)*
            $(
                $(#[doc = $doc:literal])+
                $($key:literal =>)? $field:ident: $Field:ty = $key_type:expr,
                $rule:ident $(($($default:tt)+))? $(, parse($parse:expr))?;
            )*
        }
        $(check $check:ident($($checked:ident),+);)*
    ) => {
        $(#[doc = $section_doc])+
        $(#[$attribute])*
        $vis struct $Name {
            $($vis $part: $Part,)*
            $($(#[doc = $doc])+ $vis $field: $Field,)*
        }

        impl $crate::section_table::SectionTable for $Name {
            const SECTION: $crate::key::ConfigSection = {
                use $crate::section_table::{count_keys, join_keys, kind_of};
                const TABLES: &[&[$crate::key::ConfigKey]] = &[
                    $(<$Part as $crate::section_table::SectionTable>::SECTION.keys,)*
                    &[$($crate::key::ConfigKey {
                        name: $crate::section_table::key_name!($($key)? $field),
                        kind: kind_of::<_, $crate::section_table::read_type!($rule $Field)>(
                            &$key_type,
                            $crate::section_table::conversion!($($parse)?),
                        ),
                        otherwise: $crate::section_table::absent_rule!($rule $($($default)+)?),
                        doc: concat!($($doc),+).trim_ascii_start(),
                    },)*],
                ];
                const KEYS: [$crate::key::ConfigKey; count_keys(TABLES)] = join_keys(TABLES);
                $crate::key::ConfigSection {
                    name: $section_name,
                    form: $crate::key::SectionForm::$form,
                    doc: concat!($($section_doc),+).trim_ascii_start(),
                    keys: &KEYS,
                }
            };

            fn read(reader: &$crate::reader::TableReader<'_>) -> Option<$Name> {
                // All keys are read before the first `?`, so that all faults are reported.
                $(let $part = <$Part as $crate::section_table::SectionTable>::read(reader);)*
                $(let $field = $crate::section_table::read_key::<
                    _,
                    $crate::section_table::read_type!($rule $Field),
                >(
                    reader,
                    $crate::section_table::key_name!($($key)? $field),
                    &$key_type,
                    $crate::section_table::conversion!($($parse)?),
                );)*
                $($check(reader, $($checked.as_ref()),+);)*
                Some($Name {
                    $($part: $part?,)*
                    $($field: $crate::section_table::field_value!($rule $field),)*
                })
            }
        }
    };
}

/// The name of a key: the one in quotes, or that of its field.
macro_rules! key_name {
    ($key:literal $field:ident) => {
        $key
    };
    ($field:ident) => {
        stringify!($field)
    };
}

/// The type of a value that is present.
macro_rules! read_type {
    (optional $Field:ty) => {
        <$Field as $crate::section_table::OptionalField>::Value
    };
    ($rule:ident $Field:ty) => {
        $Field
    };
}

macro_rules! conversion {
    ($parse:expr) => {
        $parse
    };
    () => {
        $crate::section_table::keep_value
    };
}

macro_rules! absent_rule {
    (required) => { $crate::key::AbsentKeyRule::Required };
    (optional) => { $crate::key::AbsentKeyRule::Absent };
    (default $($default:tt)+) => {
        $crate::key::AbsentKeyRule::Default(stringify!($($default)+))
    };
}

macro_rules! field_value {
    (optional $value:ident) => {
        $crate::section_table::OptionalField::from_optional($value)
    };
    ($rule:ident $value:ident) => {
        $value?
    };
}

pub(crate) use {absent_rule, config_section, conversion, field_value, key_name, read_type};
