//! The keys before the first section.

use crate::key::{Form, Key, Kind, Section};

pub const SECTION: Section = Section {
    name: "",
    form: Form::One,
    doc: "Keys before the first section.",
    keys: &[Key::with_default(
        "include",
        Kind::Texts,
        "[]",
        "Further files with `[[model]]` and `[[provider]]` entries, such as \"models/*.toml\". \
         Paths are relative to this file; `*` matches any part of a file name.",
    )],
};
