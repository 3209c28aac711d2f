//! Value types used only by models: counts, enum names and choices.

use domain::catalogue::{ChoiceList, NamedVariants};

use crate::fault::did_you_mean;
use crate::key::ValueKind;
use crate::reader::TableReader;

/// Far above any real context size or limit, and small enough that sums do not overflow.
const COUNT_MAX: i64 = 1_000_000_000_000;

/// A whole number of at least 1.
pub(super) const COUNT: ValueKind = ValueKind::Integer { least: 1, most: COUNT_MAX };

/// A whole number of at least 0.
pub(super) const COUNT_OR_NONE: ValueKind = ValueKind::Integer { least: 0, most: COUNT_MAX };

pub(super) fn read_count(reader: &TableReader<'_>, name: &str) -> Option<u64> {
    reader.integer(name).and_then(|it| u64::try_from(it).ok())
}

pub(super) fn read_counts(reader: &TableReader<'_>, name: &str) -> Option<Vec<u64>> {
    let integers = reader.integers(name)?;
    integers.into_iter().map(|it| u64::try_from(it).ok()).collect()
}

pub(super) fn read_enum_value<T: NamedVariants>(reader: &TableReader<'_>, name: &str) -> Option<T> {
    reader.choice(name).and_then(T::parse)
}

pub(super) fn read_enum_values<T: NamedVariants>(
    reader: &TableReader<'_>,
    name: &str,
) -> Option<Vec<T>> {
    Some(reader.choices(name)?.into_iter().filter_map(T::parse).collect())
}

/// Parses a list of strings to choose from. The default is given by `default_name`, or else is the
/// first.
pub(super) fn text_choices(
    reader: &TableReader<'_>,
    name: &str,
    default_name: &str,
) -> Option<ChoiceList<String>> {
    let options = reader.texts(name)?;
    let Some(default) = reader.text(default_name) else {
        return Some(ChoiceList::first_of(options));
    };
    let hint = did_you_mean(&default, options.iter().map(String::as_str));
    let choices = ChoiceList::with_default(options, &default);
    if choices.is_none() {
        let message = format!("`{default_name}` is \"{default}\", which is not in `{name}`{hint}");
        reader.report_fault(default_name, message);
    }
    choices
}

/// Like `text_choices`, for values of an enum.
pub(super) fn word_choices<T: NamedVariants + PartialEq + Clone>(
    reader: &TableReader<'_>,
    name: &str,
    default_name: &str,
) -> Option<ChoiceList<T>> {
    choices_with_usual_default(reader, name, default_name, None)
}

/// Like `word_choices`. Without an explicit default, `usual` is the default if it is listed.
pub(super) fn choices_with_usual_default<T: NamedVariants + PartialEq + Clone>(
    reader: &TableReader<'_>,
    name: &str,
    default_name: &str,
    usual: Option<T>,
) -> Option<ChoiceList<T>> {
    let options: Vec<T> = read_enum_values(reader, name)?;
    let Some(default) = read_enum_value::<T>(reader, default_name) else {
        let usual = usual.and_then(|usual| ChoiceList::with_default(options.clone(), &usual));
        return Some(usual.unwrap_or_else(|| ChoiceList::first_of(options)));
    };
    let choices = ChoiceList::with_default(options, &default);
    if choices.is_none() {
        let message =
            format!("`{default_name}` is \"{}\", which is not in `{name}`", default.name());
        reader.report_fault(default_name, message);
    }
    choices
}
