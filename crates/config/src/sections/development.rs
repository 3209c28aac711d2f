//! `[development]`: conveniences for a first run, to be turned off in production.

use money::Nano;

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "development",
    form: Form::One,
    doc: "Conveniences for a first run. Disable them in production.",
    keys: &[
        Key::with_default(
            "enabled",
            Kind::Flag,
            "true",
            "Credits the account `default` on the first start.",
        ),
        Key::with_default(
            "starting_credit_usd",
            Kind::Decimal,
            "\"10.00\"",
            "The amount of that credit in USD.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Development {
    pub enabled: bool,
    pub starting_credit: Nano,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Development> {
    let enabled = reader.flag("enabled");
    let starting_credit = reader.decimal("starting_credit_usd", Nano::parse);
    Some(Development { enabled: enabled?, starting_credit: starting_credit? })
}
