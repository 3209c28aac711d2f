//! The keys before the first section.

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};

pub const SECTION: ConfigSection = ConfigSection {
    name: "",
    form: SectionForm::One,
    doc: "Keys before the first section.",
    keys: &[ConfigKey::with_default(
        "include",
        ValueKind::Texts,
        "[]",
        "Further files with `[[model]]` and `[[provider]]` entries, such as \"models/*.toml\". \
         Paths are relative to this file; `*` matches any part of a file name.",
    )],
};
