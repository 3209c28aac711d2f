//! `[scrape]`: how pages are fetched for a caller.

use std::path::PathBuf;

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "scrape",
    form: Form::One,
    doc: "How pages are fetched for a caller.",
    keys: &[
        Key::with_default(
            "chromium",
            Kind::Text,
            "\"auto\"",
            "The browser for pages that need one: `auto` looks for it, `off` does without, \
             or the full path of the program.",
        ),
        Key::with_default(
            "allow_private_addresses",
            Kind::Flag,
            "false",
            "Lets callers reach addresses of the private network. Only for tests.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrape {
    pub chromium: Chromium,
    pub allow_private_addresses: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chromium {
    Auto,
    Off,
    At(PathBuf),
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Scrape> {
    let chromium = reader.text("chromium").and_then(|written| chromium(reader, written));
    let allow_private_addresses = reader.flag("allow_private_addresses");
    Some(Scrape { chromium: chromium?, allow_private_addresses: allow_private_addresses? })
}

fn chromium(reader: &Reader<'_>, written: String) -> Option<Chromium> {
    match written.as_str() {
        "auto" => Some(Chromium::Auto),
        "off" => Some(Chromium::Off),
        path if path.starts_with('/') => Some(Chromium::At(PathBuf::from(path))),
        _ => {
            let message = format!(
                "`chromium` in [scrape] must be \"auto\", \"off\" or a full path, not {written:?}"
            );
            reader.fault("chromium", message);
            None
        }
    }
}
